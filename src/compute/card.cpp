#include "windtunnel/compute/card.hpp"

#include <algorithm>

namespace windtunnel::compute {

Card card_of(const model::Accelerator& accelerator, const model::Efficiency& efficiency,
             model::Precision precision) noexcept {
    Card card;
    card.matrix_peak = accelerator.peak(precision);
    card.wide_peak = accelerator.peak(model::Precision::bf16);
    if (!(card.wide_peak > FlopsPerSecond{0.0})) card.wide_peak = card.matrix_peak;
    card.memory_bandwidth = accelerator.memory_bandwidth;
    card.gemm = efficiency.gemm;
    card.wide_half_size = efficiency.gemm_half_size;
    card.half_size = efficiency.gemm_half_size * std::max(1.0, card.matrix_peak / card.wide_peak);
    card.attention = efficiency.attention;
    card.grouped = efficiency.grouped_gemm;
    card.memory = efficiency.memory;
    card.element_bytes = std::min(2.0, model::bytes_per_element(precision));
    card.cast = efficiency.low_precision_cast;
    card.launch = efficiency.kernel_launch;
    card.chip = accelerator.on_chip;
    return card;
}

Card in_16_bit(const Card& card) noexcept {
    Card wide = card;
    wide.matrix_peak = card.wide_peak;
    wide.half_size = card.wide_half_size;
    wide.element_bytes = 2.0;
    return wide;
}

}  // namespace windtunnel::compute
