#pragma once
/// What operators need to know of a card: data-sheet rates and what software reaches of them.
///
/// Model:   every operator runs at a fraction of one data-sheet rate (model/efficiency.hpp); fractions are fitted, not
/// derived.
#include "windtunnel/model/efficiency.hpp"
#include "windtunnel/model/hardware.hpp"

namespace windtunnel::compute {

struct Card {
    FlopsPerSecond matrix_peak;       ///< dense, of the matrix products' precision
    FlopsPerSecond wide_peak;         ///< dense, 16 bit: attention, router, output head
    BytesPerSecond memory_bandwidth;  ///< data sheet
    double gemm = 1.0;                ///< plateau of a large product, fraction of peak
    double half_size = 0.0;           ///< see gemm_efficiency(), in the precision of matrix_peak
    double wide_half_size = 0.0;      ///< the same for 16 bit
    double attention = 1.0;           ///< causal flash attention at head size 128, fraction of wide_peak
    double grouped = 1.0;             ///< grouped product relative to a dense one
    double memory = 1.0;              ///< fraction of memory_bandwidth that streaming reaches
    double element_bytes = 2.0;       ///< of the inputs of matrix products
    double cast = 1.0;                ///< multiplier of the bytes of casts to 8 bit or less
    Seconds launch;                   ///< per kernel
    model::OnChip chip{};             ///< with `tiles`: products go by tiles.hpp
};

/// 8 bit products finish in half the time, so their start-up weighs twice: half_size grows with peak over 16 bit peak.
[[nodiscard]] Card card_of(const model::Accelerator& accelerator, const model::Efficiency& efficiency,
                           model::Precision precision) noexcept;

/// The same card working in 16 bit.
[[nodiscard]] Card in_16_bit(const Card& card) noexcept;

}  // namespace windtunnel::compute
