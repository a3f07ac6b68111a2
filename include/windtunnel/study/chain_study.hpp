#pragma once
/// The measures of chains by sampled paths.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "windtunnel/avail/sample.hpp"
#include "windtunnel/study/study.hpp"
#include "windtunnel/study/trials.hpp"

namespace windtunnel::study {

struct ChainOptions {
    StopRule stop;  ///< no trials and no half-width: usual_trials
    avail::SampleMethod method = avail::SampleMethod::automatic;
    std::uint64_t seed = 1;
    static constexpr std::int64_t usual_trials = 10'000;
    static constexpr std::int64_t usual_splitting_trials = 500;  ///< each of 100 paths a level
};

struct SampledChain {
    std::string title, variant, time_unit;
    std::uint64_t trials = 0, events = 0;
    std::vector<avail::SampledMeasure> measures;
    std::vector<model::MeasureKind> kinds;
};

/// Each trial of a variant runs every path that its measures need.
class ChainStudy {
public:
    ChainStudy(std::vector<model::Chain> chains, const ChainOptions& options);

    using Partial = std::vector<avail::SampleSums>;  ///< by chain
    struct State {
        std::vector<avail::SampleSums> sums;
        std::uint32_t rounds_done = 0;
        std::uint64_t blocks = 0;  ///< of the round under way
    };

    [[nodiscard]] std::string identity() const { return identity_; }
    [[nodiscard]] State start() const;
    [[nodiscard]] std::optional<Round> next_round(const State& state) const;
    [[nodiscard]] std::string round_context(const State&, const Round&) const { return {}; }
    [[nodiscard]] Partial evaluate(const Round& round, ItemRange items, std::string_view context) const;
    void merge(Partial& partial, const Partial& other) const;
    [[nodiscard]] std::string pack(const Partial& partial) const;
    [[nodiscard]] Partial unpack(std::string_view bytes) const;
    void absorb(State& state, const Round& round, std::uint64_t block, const Partial& partial) const;
    [[nodiscard]] std::vector<store::Table> tables(const State& state) const;
    [[nodiscard]] std::vector<store::TableSchema> bulk_tables() const { return {}; }
    [[nodiscard]] std::vector<store::Table> bulk_rows(const Round&, const Partial&) const { return {}; }
    [[nodiscard]] std::string part_refusal() const;

    [[nodiscard]] std::vector<SampledChain> answer(const State& state) const;

private:
    [[nodiscard]] bool narrow_enough(const State& state) const;

    std::string identity_;
    ChainOptions options_;
    std::shared_ptr<const std::vector<model::Chain>> chains_;
    std::vector<avail::ChainSampler> samplers_;  ///< by chain; copied before they run
    std::uint64_t trials_per_slice_ = 1;
};

}  // namespace windtunnel::study
