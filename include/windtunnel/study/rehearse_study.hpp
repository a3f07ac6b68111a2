#pragma once
/// The whole plan: the best layout of the space, then its campaign with failures until the last token.
#include <string>
#include <string_view>

#include "windtunnel/study/search_study.hpp"
#include "windtunnel/study/train_study.hpp"
#include "windtunnel/study/trials.hpp"

namespace windtunnel::study {

struct RehearseOptions {
    StopRule stop;  ///< trials empty and no half-width: rehearsal.trials of the plan
};

struct RehearseAnswer {
    SearchAnswer search;
    std::vector<VariantAnswer> variants;  ///< of the winner; empty when nothing is feasible
    std::vector<TrainPoint> winner{};     ///< its step and memory: one, or none when nothing is feasible
    [[nodiscard]] bool feasible() const noexcept { return search.feasible(); }
};

/// Phases: 0 closed form, 1 executor, 2 trials of the winner.
class RehearseStudy {
public:
    explicit RehearseStudy(const model::Plan& plan, const RehearseOptions& options = {});

    struct Partial {
        SearchStudy::Partial search;
        TrialSums trials;
    };
    struct State {
        SearchStudy::State search;
        TrialSums trials;
        std::uint32_t trial_rounds_done = 0;
        std::uint64_t trial_blocks = 0;  ///< of the round under way
    };

    [[nodiscard]] std::string identity() const { return identity_; }
    [[nodiscard]] State start() const;
    [[nodiscard]] std::optional<Round> next_round(const State& state) const;
    [[nodiscard]] std::string round_context(const State& state, const Round& round) const;
    [[nodiscard]] Partial evaluate(const Round& round, ItemRange items, std::string_view context) const;
    void merge(Partial& partial, const Partial& other) const;
    [[nodiscard]] std::string pack(const Partial& partial) const;
    [[nodiscard]] Partial unpack(std::string_view bytes) const;
    void absorb(State& state, const Round& round, std::uint64_t block, const Partial& partial) const;
    [[nodiscard]] std::vector<store::Table> tables(const State& state) const;
    [[nodiscard]] std::vector<store::TableSchema> bulk_tables() const { return {}; }
    [[nodiscard]] std::vector<store::Table> bulk_rows(const Round&, const Partial&) const { return {}; }
    [[nodiscard]] std::string part_refusal() const;

    [[nodiscard]] RehearseAnswer answer(const State& state) const;

private:
    std::string identity_;
    model::Plan plan_;
    StopRule stop_;
    std::vector<std::string> names_;
    SearchStudy search_;
};

}  // namespace windtunnel::study
