#pragma once
/// What a card and its software reach of the data sheet: the few free parameters of the time model. Each has a physical
/// meaning, a unit and a bound; `inputs/calibrations/*.toml` holds fitted sets, with the rows that were used.
#include <string>
#include <string_view>
#include <vector>

#include "windtunnel/base/quantity.hpp"

namespace windtunnel::model {

/// Where a number comes from; every prediction carries the weakest tag of what it used.
enum class Evidence { measured, fitted, assumed, first_principles };

/// How long a release of the software takes for a layer, relative to the average of the fit.
struct ReleaseFactor {
    std::string release;  ///< year and month, "26.04"
    double factor = 1.0;  ///< > 0
};

struct Efficiency {
    std::string name = "default";
    std::string version;
    Evidence evidence = Evidence::assumed;

    double gemm = 0.75;  ///< plateau of a large matrix product, fraction of dense peak, (0, 1]
    double gemm_half_size =
        128.0;  ///< inner dimension of a product (per card) at which half of the plateau is left, elements, >= 0
    double attention = 0.45;        ///< causal flash attention at head size 128, fraction of bf16 peak, (0, 1]
    double grouped_gemm = 0.9;      ///< grouped expert GEMM relative to a dense one, (0, 1]
    double memory = 0.70;           ///< fraction of the memory bandwidth that streaming operators reach, (0, 1]
    double scale_up = 0.75;         ///< fraction of the scale-up bandwidth that a large collective reaches, (0, 1]
    double scale_out = 0.80;        ///< the same for scale-out, (0, 1]
    double scale_up_hidden = 0.0;   ///< share of tensor- and expert-parallel communication hidden under compute, [0, 1)
    double scale_out_hidden = 0.5;  ///< share of gradient and parameter exchange hidden under compute, [0, 1)
    Seconds kernel_launch{5e-6};    ///< per kernel on the critical stream
    Seconds host_per_layer_pass{0.0};    ///< least time of one layer and pass that the host needs to issue it
    Seconds moe_routing{60e-6};          ///< routing, permutation set-up per MoE layer and pass
    Seconds fixed_per_step{20e-3};       ///< data loader, logging, clip, host work once a step
    double low_precision_cast = 1.0;     ///< multiplier of the bytes moved to cast inputs to 8 bit or less
    Bytes memory_context{5.0e9};         ///< runtime context, communication buffers and workspace of a card
    double memory_fragmentation = 0.02;  ///< allocator loss, fraction of states and activations

    /// Releases that the fit tells apart, oldest first. `release_factor` multiplies the time of every layer, embedding
    /// and head; 1: no release chosen.
    std::vector<ReleaseFactor> releases{};
    std::string release{};
    double release_factor = 1.0;

    /// Takes the factor of a release; false and 1 where the set does not know it.
    bool choose_release(std::string_view wanted);

    /// Range of the rows behind a fit; outside it a prediction carries a warning.
    int fitted_min_cards = 0, fitted_max_cards = 0;
    int fitted_min_hidden = 0, fitted_max_hidden = 0;
    int fitted_min_sequence = 0, fitted_max_sequence = 0;
    /// Relative error of step time on rows that were not fitted: half-width of the 90 % interval, 0: unknown.
    double step_time_error_90 = 0.0;
};

}  // namespace windtunnel::model
