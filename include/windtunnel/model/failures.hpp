#pragma once
/// What fails, how often, how long it takes to mend, and what recovery costs.
#include <optional>
#include <string>
#include <vector>

#include "windtunnel/base/quantity.hpp"

namespace windtunnel::model {

enum class LawKind { exponential, weibull, lognormal, gamma, deterministic };

/// A positive random time. `mean` is used by exponential and deterministic; weibull and gamma: shape, scale;
/// lognormal: scale = median, shape = standard deviation of the logarithm.
struct Law {
    LawKind kind = LawKind::exponential;
    double shape = 1.0;
    Seconds scale;  ///< exponential and deterministic: the mean
    friend bool operator==(const Law&, const Law&) = default;
};
/// Mean of the law. Source: any text on probability; hand-worked in the tests.
[[nodiscard]] Seconds mean(const Law& law);

enum class CountPer { card, node, switch_, job };
enum class Effect {
    stops,
    slows,
    corrupts,  ///< the job goes on with wrong numbers until it is noticed
    none
};
/// Do components grow older, and fail, while the job is down (recovering or waiting)? Repairs always go on.
enum class Ageing { always, while_running };
/// Age of the components at the start: all new, or those of a fleet that has run and been renewed for long.
enum class FleetAge { new_, stationary };

/// A class of equal components; the number of members follows from the job and `count_per`.
struct ComponentClass {
    std::string name;
    CountPer count_per = CountPer::node;
    double count_multiple = 1.0;  ///< members per card, node, switch or job
    Law up;                       ///< time to failure of one member
    Law repair;                   ///< time until the member (or its node) can be used again
    Effect effect = Effect::stops;
    double slow_factor = 1.0;  ///< effect slows: step time is multiplied by this while the member is out, >= 1
    bool takes_node = true;    ///< the failure takes a node out of service until repaired (else: restart in place)
    std::string source;
    std::optional<Law> detection{};  ///< until a failure is noticed; empty: that of the recovery
};

/// A whole-job failure process, where no component rates are public. Variants are alternatives: the answer is a band.
struct FailureVariant {
    std::string name;
    Law up;                         ///< time between failures of the job at `reference_nodes`
    bool scales_with_nodes = true;  ///< rate is multiplied by nodes / reference_nodes
    int reference_nodes = 1;
    Law repair;  ///< of the node that is taken out
    bool takes_node = true;
    std::string source;
};

struct Failures {
    std::vector<ComponentClass> components;
    std::vector<FailureVariant> variants;  ///< exactly one of the two lists is filled, or both are empty: no failures
    bool empty() const noexcept { return components.empty() && variants.empty(); }
};

/// One rung of the recovery ladder, tried in order.
struct RecoveryRung {
    std::string action;
    double success = 1.0;  ///< probability
    Law time;
    enum class Lost { nothing, one_step, since_checkpoint } lost = Lost::since_checkpoint;
    std::vector<std::string> covers;  ///< component names; empty: all
    bool needs_spare = false;
    std::optional<Seconds> limit{};  ///< a longer time is cut off there, and the rung has not helped
};

struct Recovery {
    std::optional<Seconds> checkpoint_interval;                ///< empty: optimal (Daly)
    std::optional<Seconds> checkpoint_write;                   ///< empty: state bytes / checkpoint_bandwidth per node
    BytesPerSecond checkpoint_bandwidth{2.7e9};                ///< per node. Source: FR-22, MindCluster documentation
    Law restart{LawKind::deterministic, 1.0, Seconds{600.0}};  ///< assumed where nobody published it
    bool restart_assumed = true;
    Seconds checkpoint_background;  ///< until a checkpoint is complete, after the job goes on; 0: complete at once
    Law detection{LawKind::deterministic, 1.0,
                  Seconds{0.0}};  ///< until a failure is noticed, where its class says nothing
    Ageing ageing = Ageing::always;
    FleetAge fleet = FleetAge::new_;
    std::optional<int> spare_nodes;    ///< empty: nodes of the cluster that the layout leaves over
    std::vector<RecoveryRung> ladder;  ///< empty: one rung, restart from the last checkpoint
};

}  // namespace windtunnel::model
