#include "windtunnel/compute/gemm.hpp"

#include <algorithm>

#include "windtunnel/compute/tiles.hpp"

namespace windtunnel::compute {

double gemm_efficiency(const Gemm& gemm, const Card& card) noexcept {
    const double s = card.half_size, area = gemm.m * gemm.n;
    return card.gemm * (gemm.k / (gemm.k + s)) * (area / (area + s * s));
}

Seconds gemm_time(const Gemm& gemm, const Card& card) noexcept {
    return grouped_gemm_time(1.0, gemm, card);
}

Seconds grouped_gemm_time(double groups, const Gemm& each, const Card& card) noexcept {
    const Flops work = groups * each.flops();
    if (!(work > Flops{0.0})) return Seconds{0.0};
    const double relative = groups > 1.0 ? card.grouped : 1.0;
    if (card.chip.tiles) return tiled_product_time(groups, each, card) / (groups > 1.0 ? relative : 1.0);
    const Seconds compute =
        work / (card.matrix_peak * (relative * gemm_efficiency({groups * each.m, each.n, each.k}, card)));
    const double inputs = each.m * each.k + each.k * each.n;
    const Bytes moved{groups * (inputs * card.element_bytes + each.m * each.n * 2.0)};
    return std::max(compute, streaming_time(moved, card));
}

Seconds streaming_time(Bytes bytes, const Card& card) noexcept {
    return bytes / (card.memory_bandwidth * card.memory);
}

}  // namespace windtunnel::compute
