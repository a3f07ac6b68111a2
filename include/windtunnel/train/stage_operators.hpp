#pragma once
/// Every operator of a step, by pipeline stage and block: the table behind `train --operators`.
#include <string>
#include <vector>

#include "windtunnel/train/block_graph.hpp"
#include "windtunnel/train/step.hpp"

namespace windtunnel::train {

/// One operator of one block; the stage has `blocks` of that block, each runs once a micro-batch (`step`: once a step).
struct StageOperator {
    int stage = 0;
    std::string block;
    double blocks = 0.0;
    double runs = 0.0;  ///< in a step: micro-batches, or 1
    Operator one;
};

/// Model:   the graphs of the blocks of each pipeline rank, its transfers, its exchange and its optimizer. Sums of
///          Operator::counted() x blocks x runs by part are the parts of the rank (train/step.hpp): gemm to ep_comm and
///          recompute, without pairs and without overlap by the graph.
/// Inputs:  as step_result(). Limits: documents of one length.
[[nodiscard]] std::vector<StageOperator> stage_operators(const Job& job, const model::Layout& layout,
                                                         const UnitCosts& costs);

}  // namespace windtunnel::train
