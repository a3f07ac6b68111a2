#include "windtunnel/train/unit_costs.hpp"

namespace windtunnel::train {

std::string to_text(Part part) {
    switch (part) {
        case Part::gemm:
            return "gemm";
        case Part::attention:
            return "attention";
        case Part::memory_bound:
            return "memory_bound";
        case Part::launch:
            return "launch";
        case Part::recompute:
            return "recompute";
        case Part::tp_comm:
            return "tp_comm";
        case Part::cp_comm:
            return "cp_comm";
        case Part::ep_comm:
            return "ep_comm";
        case Part::pp_comm:
            return "pp_comm";
        case Part::bubble:
            return "bubble";
        case Part::dp_comm:
            return "dp_comm";
        case Part::optimizer:
            return "optimizer";
        case Part::fixed:
            return "fixed";
        case Part::jitter:
            return "jitter";
        case Part::offload:
            return "offload";
    }
    return "";
}

Seconds PartTimes::total() const noexcept {
    Seconds sum;
    for (const Seconds part : of) sum += part;
    return sum;
}

PartTimes& PartTimes::operator+=(const PartTimes& other) noexcept {
    for (std::size_t part = 0; part < of.size(); ++part) of[part] += other.of[part];
    return *this;
}

PartTimes PartTimes::operator*(double factor) const noexcept {
    PartTimes product = *this;
    for (Seconds& part : product.of) part *= factor;
    return product;
}

}  // namespace windtunnel::train
