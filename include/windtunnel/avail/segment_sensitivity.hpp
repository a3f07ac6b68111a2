#pragma once
/// What the useful share of a job depends on: each input halved and doubled, the others as they are.
#include <string>
#include <vector>

#include "windtunnel/avail/job.hpp"

namespace windtunnel::avail {

struct InputEffect {
    std::string input;
    Seconds base;  ///< as the job has it
    double base_share = 0.0, half_share = 0.0, double_share = 0.0;
};

/// Useful share of the wall clock by inputs: time between failures, restart, checkpoint interval, checkpoint write.
///
/// Model:   interval / expected_segment_time(interval, write, time between failures, restart), failures excluded during
///          restarts, of the failures that send the job back to its last checkpoint.
/// Inputs:  any job. Returns: one line an input, in the order above; none for a job without such failures or without
///          checkpoints.
/// Limits:  exponential failures, spares enough, no other rungs: a ranking of the inputs, not the job's goodput.
/// Source:  Daly 2006, section 3 (see checkpoint.hpp); the halving and doubling are chosen here.
[[nodiscard]] std::vector<InputEffect> segment_sensitivity(const JobOnCluster& job);

}  // namespace windtunnel::avail
