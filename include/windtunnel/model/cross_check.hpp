#pragma once
/// Outputs of another tool for configurations that both can describe.
#include <map>
#include <string>
#include <vector>

namespace windtunnel::model {

/// A card as the other tool's system file describes it; efficiencies of its largest operators.
struct CrossCheckSystem {
    std::map<std::string, double> teraflops;  ///< by dtype
    double matrix_efficiency = 1.0, memory_gb_per_s = 0.0, memory_efficiency = 1.0;
    double scale_up_gb_per_s = 0.0, scale_up_efficiency = 1.0, scale_out_gb_per_s = 0.0, scale_out_efficiency = 1.0;
    int scale_up_cards = 1;
};

struct CrossCheck {
    std::string name, system, dtype, recompute;
    int hidden = 0, feedforward = 0, sequence = 0, heads = 0, head_size = 0, blocks = 0;
    int cards = 1, tp = 1, pp = 1, vpp = 1, mbs = 1, gbs = 1;
    bool multiquery = false, sequence_parallel = false, sharded = false;
    std::string not_compared;             ///< why the two do not describe the same thing; empty: they do
    std::map<std::string, double> parts;  ///< bytes of a card, seconds of a step, FLOPs of a block
};

struct CrossChecks {
    std::map<std::string, CrossCheckSystem> systems;
    std::vector<CrossCheck> configurations;
};

}  // namespace windtunnel::model
