#include "windtunnel/model/hardware.hpp"

namespace windtunnel::model {
namespace {

/// What runs a precision on a card without a peak of its own: 16-bit formats share the matrix unit, block-scaled 8-bit
/// uses the 8-bit unit.
Precision stand_in(Precision precision) noexcept {
    switch (precision) {
        case Precision::mxfp8:
            return Precision::fp8;
        case Precision::fp16:
            return Precision::bf16;
        case Precision::bf16:
            return Precision::fp16;
        default:
            return precision;
    }
}

}  // namespace

FlopsPerSecond Accelerator::peak(Precision precision) const noexcept {
    const FlopsPerSecond own = matrix_peak[static_cast<std::size_t>(precision)];
    if (own > FlopsPerSecond{0.0}) return own;
    return matrix_peak[static_cast<std::size_t>(stand_in(precision))];
}

}  // namespace windtunnel::model
