#pragma once
/// Every layout of a space: verdicts and closed form first, then the executor on those that may be best.
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "windtunnel/search/sweep.hpp"
#include "windtunnel/study/study.hpp"

namespace windtunnel::study {

enum class StoreDesigns { best, all };

struct SearchOptions {
    StoreDesigns store = StoreDesigns::best;
};

/// A design with the executor's step time and what follows from it.
struct RankedDesign {
    std::uint64_t index = 0;
    model::Layout layout;
    Seconds step_time;  ///< executor
    Seconds closed_form;
    double tokens_per_second = 0.0;
    double mfu = 0.0;  ///< causal attention counted once
    Bytes memory;      ///< of the fullest stage
    int fullest_stage = 0;
    Seconds time_to_tokens;  ///< NaN where the plan names no tokens
    Usd cost;                ///< NaN where the plan lacks prices or tokens
    Joules energy;           ///< NaN where power or tokens are unknown
};

/// Was the margin wide enough?
struct MarginCheck {
    double margin = 0.0;              ///< closed form within this fraction of the N-th best: to the executor
    std::uint64_t candidates = 0;     ///< designs inside
    bool cut = false;                 ///< more were inside than the list holds; the best of them were kept
    std::uint64_t sampled = 0;        ///< designs outside that the executor ran as a check
    std::uint64_t sample_in_top = 0;  ///< of them, inside the best N: should be 0
    std::uint64_t above_limit = 0;    ///< designs that the executor's time puts above a limit of the plan
    double least_ratio = 0.0;         ///< executor over closed form: smallest and largest of all designs run
    double greatest_ratio = 0.0;

    /// How far apart the closed form may put two designs that the executor finds equal, from the designs that ran.
    [[nodiscard]] double spread() const noexcept { return greatest_ratio / least_ratio - 1.0; }
    /// A design outside the margin can be among the best only if its ratio lies outside of those that were seen.
    [[nodiscard]] bool covers_spread() const noexcept { return !(spread() > margin); }
};

/// What a person wants to know.
struct SearchAnswer {
    model::Objective objective = model::Objective::tokens_per_second;
    std::vector<search::Measure> front_measures;
    std::uint64_t space_size = 0;
    std::array<std::uint64_t, model::num_verdict_reasons> designs{};  ///< by verdict; sums to space_size
    std::uint64_t reached_memory = 0;
    std::vector<RankedDesign> best;    ///< best first; empty: nothing feasible
    std::vector<RankedDesign> pareto;  ///< by index
    bool pareto_cut = false;           ///< the front has more points than are kept
    MarginCheck check;

    [[nodiscard]] std::uint64_t fitting() const noexcept { return designs[0]; }
    [[nodiscard]] bool feasible() const noexcept { return !best.empty(); }
};

class SearchStudy {
public:
    /// Throws base::InputError: a space too large, missing prices, no [train] section.
    explicit SearchStudy(const model::Plan& plan, const SearchOptions& options = {});

    struct Partial {
        search::SweepResult sweep;         ///< closed form
        std::vector<std::uint64_t> index;  ///< executor
        std::vector<double> step_time_s;
    };
    struct State {
        search::SweepResult sweep;
        bool front_cut = false;
        std::uint64_t sweep_blocks = 0;  ///< absorbed
        std::uint64_t executor_blocks = 0;
        std::vector<std::uint64_t> index;  ///< designs that the executor ran, ascending once whole
        std::vector<double> step_time_s;
    };

    [[nodiscard]] std::string identity() const;
    [[nodiscard]] State start() const;
    [[nodiscard]] std::optional<Round> next_round(const State& state) const;
    [[nodiscard]] std::string round_context(const State& state, const Round& round) const;
    [[nodiscard]] Partial evaluate(const Round& round, ItemRange items, std::string_view context) const;
    void merge(Partial& partial, const Partial& other) const;
    [[nodiscard]] std::string pack(const Partial& partial) const;
    [[nodiscard]] Partial unpack(std::string_view bytes) const;
    void absorb(State& state, const Round& round, std::uint64_t block, const Partial& partial) const;
    [[nodiscard]] std::vector<store::Table> tables(const State& state) const;
    [[nodiscard]] std::vector<store::TableSchema> bulk_tables() const;
    [[nodiscard]] std::vector<store::Table> bulk_rows(const Round& round, const Partial& partial) const;
    [[nodiscard]] std::string part_refusal() const { return {}; }

    [[nodiscard]] SearchAnswer answer(const State& state) const;
    /// Best design of the executor and its step time; empty: nothing feasible.
    [[nodiscard]] std::optional<std::pair<std::uint64_t, double>> winner(const State& state) const;
    /// An empty partial result.
    [[nodiscard]] Partial nothing() const { return {sweep_->nothing(), {}, {}}; }
    [[nodiscard]] const search::Sweep& sweep() const noexcept { return *sweep_; }

private:
    /// Designs for the executor: candidates, front and sample, ascending, without doubles.
    [[nodiscard]] std::vector<std::uint64_t> executor_designs(const State& state) const;
    [[nodiscard]] RankedDesign ranked(std::uint64_t index, Seconds step_time, train::StepWorkspace& workspace) const;

    std::string identity_;
    SearchOptions options_;
    model::Objective objective_;
    std::shared_ptr<const search::Sweep> sweep_;
    double flops_per_token_ = 0.0;  ///< model FLOPs, causal attention counted once
    std::uint64_t designs_per_slice_ = 1;
};

}  // namespace windtunnel::study
