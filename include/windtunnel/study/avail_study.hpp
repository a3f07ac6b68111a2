#pragma once
/// How much of the time a job is useful under failures, by Monte Carlo.
#include <string>
#include <string_view>

#include "windtunnel/study/train_study.hpp"
#include "windtunnel/study/trials.hpp"

namespace windtunnel::study {

struct AvailOptions {
    StopRule stop;  ///< trials empty and no half-width: rehearsal.trials of the plan
};

struct AvailAnswer {
    TrainPoint layout;                    ///< step time and verdict of the layout that fails and recovers
    std::vector<VariantAnswer> variants;  ///< empty when the layout is infeasible
    [[nodiscard]] bool feasible() const noexcept { return layout.verdict.feasible(); }
};

class AvailStudy {
public:
    explicit AvailStudy(const model::Plan& plan, const AvailOptions& options = {});

    using Partial = TrialSums;
    struct State {
        TrialSums sums;
        std::uint32_t rounds_done = 0;
        std::uint64_t blocks = 0;  ///< of the round under way
    };

    [[nodiscard]] std::string identity() const { return identity_; }
    [[nodiscard]] State start() const;
    [[nodiscard]] std::optional<Round> next_round(const State& state) const;
    [[nodiscard]] std::string round_context(const State&, const Round&) const { return {}; }
    [[nodiscard]] Partial evaluate(const Round& round, ItemRange items, std::string_view context) const;
    void merge(Partial& partial, const Partial& other) const { partial.merge(other); }
    [[nodiscard]] std::string pack(const Partial& partial) const;
    [[nodiscard]] Partial unpack(std::string_view bytes) const;
    void absorb(State& state, const Round& round, std::uint64_t block, const Partial& partial) const;
    [[nodiscard]] std::vector<store::Table> tables(const State& state) const;
    [[nodiscard]] std::vector<store::TableSchema> bulk_tables() const { return {}; }
    [[nodiscard]] std::vector<store::Table> bulk_rows(const Round&, const Partial&) const { return {}; }
    [[nodiscard]] std::string part_refusal() const;

    [[nodiscard]] AvailAnswer answer(const State& state) const;

private:
    std::string identity_;
    std::uint64_t seed_ = 1;
    StopRule stop_;
    TrainPoint point_;
    std::vector<std::string> names_;
    std::optional<TrialJobs> jobs_;  ///< empty when the layout is infeasible
};

}  // namespace windtunnel::study
