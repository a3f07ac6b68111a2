#pragma once
/// Cores of a die and the memories beside them.
#include "windtunnel/base/quantity.hpp"

namespace windtunnel::model {

/// 0: not known, no bound.
struct OnChip {
    bool tiles = false;  ///< products are timed in tiles on the cores
    int cores = 0;       ///< matrix (cube) cores
    int vector_cores = 0;
    base::PerSecond clock;
    double flops_per_cycle = 0.0;   ///< of a core, 16 bit
    Bytes l2;                       ///< of the die
    Bytes l1, l0a, l0b, l0c;        ///< of a matrix core
    Bytes unified_buffer;           ///< of a vector core
    BytesPerSecond l2_bandwidth;    ///< of the die
    BytesPerSecond load_bandwidth;  ///< of a core, L1 to L0
};

}  // namespace windtunnel::model
