#pragma once
/// What the train kernel needs to know of a plan: everything but the layout.
/// Source:  the plan, field by field.
#include "windtunnel/model/plan.hpp"

namespace windtunnel::train {

struct Job {
    model::Transformer transformer;
    model::Cluster cluster;
    model::Efficiency efficiency;
    int sequence_length = 0;
    model::Precision precision = model::Precision::bf16;
    model::Precision gradient_precision = model::Precision::fp32;
    model::Precision activation_precision = model::Precision::bf16;  ///< of the stored inputs of activation functions
    bool flash_attention = true;    ///< false: batched products with stored scores, and dropout masks
    bool fused_operators = true;    ///< false: activation, dropout and cross-entropy as separate kernels hold more
    double reserve_fraction = 0.0;  ///< of card memory that must stay free
    model::TrainingMethods methods{};
    model::Documents documents{};
};

/// Expects plan.training.
[[nodiscard]] Job job_of(const model::Plan& plan);

}  // namespace windtunnel::train
