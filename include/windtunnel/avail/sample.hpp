#pragma once
/// What is asked of a chain, estimated from sampled paths.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "windtunnel/avail/pair_moments.hpp"
#include "windtunnel/avail/summary.hpp"
#include "windtunnel/base/quantile_sketch.hpp"
#include "windtunnel/model/chain.hpp"

namespace windtunnel::avail {

enum class SampleMethod {
    automatic,   ///< importance sampling for measures of rare states of a chain without clocks, else plain
    plain,       ///< paths as they are
    importance,  ///< paths drawn towards the target and weighted
    splitting    ///< paths that come closer to the target are continued several times
};

/// Of one measure.
struct MeasureSums {
    std::vector<PairMoments> sections;  ///< by trial modulo their number; several only where a formula needs them
    base::QuantileSketch values;        ///< of single paths, where these have a meaning of their own
    std::uint64_t unreached = 0;        ///< paths given up before their end

    void merge(const MeasureSums& other);
    [[nodiscard]] PairMoments all() const noexcept;
    friend bool operator==(const MeasureSums&, const MeasureSums&) = default;
};

struct SampleSums {
    std::vector<MeasureSums> measures;  ///< in the order of the chain's
    std::uint64_t trials = 0, events = 0;

    void merge(const SampleSums& other);
    void pack(base::Packer& packer) const;
    [[nodiscard]] static SampleSums unpack(base::Unpacker& unpacker);  ///< throws base::PackError
    friend bool operator==(const SampleSums&, const SampleSums&) = default;
};

struct SampledMeasure {
    std::string name;
    double value = 0.0;            ///< not a number: not sampled
    double standard_error = 0.0;   ///< of the value
    double low = 0.0, high = 0.0;  ///< 95 % interval
    std::uint64_t unreached = 0;   ///< paths that were given up: the value is a lower bound then
    std::string method;            ///< "paths", "cycles", "importance sampling", ..., or why there is no value
    base::QuantileSketch values;   ///< of single paths; empty where these have no meaning of their own
};

class ChainPaths;

/// Paths of one chain and what they say about its measures.
///
/// Model:   Measures of a time: one path to the latest of the times. Measures of the long run: one cycle between two
///          visits of the state that a pilot walk saw most, as a ratio of means; where there is no such state, or
///          clocks keep ages, the mean over a window after a start-up. Measures of a target: one path for each. Rewards
///          of transitions enter with their rate. Formulas: of the means, with an error from leaving out each of 32
///          sections of the trials in turn.
/// Inputs:  a chain as `input` gives it.
/// Returns: base::InputError for a model that is wrong in a state that a path visits.
/// Limits:  a path ends after 10^7 events at the latest (10^6 where it is biased). Kinds of measures that are no
/// expectation over paths are
///          answered exactly only.
/// Source:  Crane and Lemoine, An Introduction to the Regenerative Method, 1977; Asmussen and Glynn, Stochastic
///          Simulation, 2007.
class ChainSampler {
public:
    ChainSampler(const model::Chain& chain, SampleMethod method);
    ChainSampler(const ChainSampler& other);  ///< shares nothing with it: a copy for each thread
    ChainSampler(ChainSampler&&) noexcept;
    ChainSampler& operator=(ChainSampler&&) = delete;
    ChainSampler& operator=(const ChainSampler&) = delete;
    ~ChainSampler();

    [[nodiscard]] SampleSums nothing() const;
    /// Runs a few trials; measures whose paths do not end are not sampled from then on. Events of one trial.
    std::uint64_t try_out(std::uint64_t seed);
    /// A pure function of chain, method, seed and range.
    void run(std::uint64_t seed, TrialRange trials, SampleSums& sums);
    [[nodiscard]] std::vector<SampledMeasure> answers(const SampleSums& sums) const;

private:
    std::unique_ptr<ChainPaths> paths_;
};

}  // namespace windtunnel::avail
