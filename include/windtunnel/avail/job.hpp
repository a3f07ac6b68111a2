#pragma once
/// A training job on a cluster whose parts fail: everything that a failure history needs, as plain numbers.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "windtunnel/model/failures.hpp"
#include "windtunnel/model/transformer.hpp"

namespace windtunnel::avail {

using model::Ageing;
using model::FleetAge;

/// Equal components of the job; each is new after every repair.
struct FailureClass {
    std::string name;
    std::uint64_t count = 1;
    model::Law up;
    model::Law repair;
    model::Effect effect = model::Effect::stops;
    double slow_factor = 1.0;  ///< effect slows: >= 1; of several slow members the slowest counts
    bool takes_node = true;    ///< a spare replaces the node; false: the member is repaired in place, the job waits
    model::Law detection{model::LawKind::deterministic, 1.0, Seconds{0.0}};  ///< until a failure is noticed
};

/// One rung of the recovery ladder; `covers[i]` belongs to class i.
struct Rung {
    std::string action;
    double success = 1.0;
    model::Law time;
    model::RecoveryRung::Lost lost = model::RecoveryRung::Lost::since_checkpoint;
    std::vector<bool> covers;
    bool needs_spare = false;
    std::optional<Seconds> limit{};  ///< a longer time is cut off there, and the rung has not helped
};

/// Work is counted in whole steps, so that ends and checkpoints fall on exact numbers.
struct JobOnCluster {
    int num_nodes = 1;                             ///< of the job
    int spare_nodes = 0;                           ///< of the same kind; a spare in the pool does not age
    std::vector<FailureClass> classes;             ///< empty: no failures
    Seconds step_time{1.0};                        ///< > 0
    std::optional<std::int64_t> num_steps;         ///< work to do; empty: until the horizon
    std::optional<Seconds> horizon;                ///< wall clock at most; one of the two is there
    std::optional<std::int64_t> checkpoint_steps;  ///< a checkpoint after every so many steps; empty: none
    Seconds checkpoint_write;                      ///< the job stands still so long for each
    Seconds checkpoint_background;                 ///< then it goes on, and so long later the checkpoint is complete
    model::Law restart{model::LawKind::deterministic, 1.0,
                       Seconds{600.0}};  ///< from the last checkpoint; always succeeds
    std::vector<Rung> ladder;            ///< tried before the restart
    Ageing ageing = Ageing::always;
    FleetAge fleet = FleetAge::new_;  ///< age of the members at the start
};

/// What a job needs from train and from the plan.
struct JobSize {
    int num_nodes = 1;    ///< used by the layout
    int num_cards = 1;    ///< used by the layout
    int spare_nodes = 0;  ///< what the cluster has left over, where the plan does not say
    Seconds step_time;
    Bytes checkpoint_state;  ///< of the whole job: see checkpoint_state()
    std::optional<std::int64_t> num_steps;
    std::optional<Seconds> horizon;
};

/// Weights, fp32 master weights and two Adam moments: 2 + 4 + 8 = 14 bytes a parameter. Gradients are not saved.
/// Source: Rajbhandari et al., ZeRO, SC 2020, section 3.1.
[[nodiscard]] Bytes checkpoint_state(const model::Transformer& transformer);

/// One job for each failure variant of the plan, in order; one without variants.
///
/// Model:   members = count_multiple x cards, nodes or 1, rounded, at least 1. The cluster model holds no switches, so
/// a
///          `switch` class counts count_multiple switches per node of the job (1/16: a leaf switch for 16 nodes).
///          A variant is one member whose time scale is multiplied by reference_nodes / nodes where it scales.
///          Write time of a checkpoint: given, or state / (nodes x bandwidth of a node). Interval: given, or Daly's
///          optimum for the failures that lose work to the last checkpoint, in whole steps, at least one.
/// Limits:  without failures an optimal interval is none at all, and no checkpoint is written; a given one is kept.
[[nodiscard]] std::vector<JobOnCluster> jobs_on_cluster(const model::Failures& failures,
                                                        const model::Recovery& recovery, const JobSize& size);

/// At once, or when it is noticed.
[[nodiscard]] constexpr bool stops_job(model::Effect effect) noexcept {
    return effect == model::Effect::stops || effect == model::Effect::corrupts;
}

/// Mean rate of the failures that stop the job, all members together.
[[nodiscard]] PerSecond stop_rate(const JobOnCluster& job);
/// Mean rate of the failures that send it back to the last checkpoint: the others end on an earlier rung.
[[nodiscard]] PerSecond rollback_rate(const JobOnCluster& job);

/// Seconds of work from one checkpoint to the next; infinite without checkpoints.
[[nodiscard]] Seconds checkpoint_interval(const JobOnCluster& job);

}  // namespace windtunnel::avail
