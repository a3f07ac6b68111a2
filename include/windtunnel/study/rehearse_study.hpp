#pragma once
/// The whole plan: the best layout of the space, then its campaign with failures until the last token.
#include <string>
#include <string_view>

#include "windtunnel/rehearse/campaign.hpp"
#include "windtunnel/study/search_study.hpp"
#include "windtunnel/study/train_study.hpp"
#include "windtunnel/study/trials.hpp"

namespace windtunnel::study {

struct RehearseOptions {
    StopRule stop;  ///< trials empty and no half-width: rehearsal.trials of the plan
};

/// Trials of the winner under each failure variant.
struct CampaignSums {
    std::vector<rehearse::Summary> variants;    ///< the step time as it is
    std::vector<rehearse::Summary> with_error;  ///< with the error of the step time; empty when that is unknown

    void merge(const CampaignSums& other);
    void pack(base::Packer& packer) const;
    [[nodiscard]] static CampaignSums unpack(base::Unpacker& unpacker);
    [[nodiscard]] TrialSums histories() const;
};

/// Time to the last token of one variant.
struct TimeToTokens {
    std::array<rehearse::Quantile, 4> time_s;        ///< what failures alone do
    std::array<rehearse::Quantile, 4> with_error_s;  ///< what failures and the error of the step time do; NaN: unknown
    std::array<rehearse::Quantile, 4> tokens;
};

struct RehearseAnswer {
    SearchAnswer search;
    std::vector<VariantAnswer> variants;  ///< of the winner; empty when nothing is feasible
    std::vector<TimeToTokens> times{};    ///< beside each variant
    std::vector<TrainPoint> winner{};     ///< its step and memory: one, or none when nothing is feasible
    [[nodiscard]] bool feasible() const noexcept { return search.feasible(); }
    /// Half-width of the 90 % interval of the winner's step time, relative; 0: unknown.
    [[nodiscard]] double step_time_error_90() const noexcept;
};

/// Phases: 0 closed form, 1 executor, 2 trials of the winner.
class RehearseStudy {
public:
    explicit RehearseStudy(const model::Plan& plan, const RehearseOptions& options = {});

    struct Partial {
        SearchStudy::Partial search;
        CampaignSums trials;
    };
    struct State {
        SearchStudy::State search;
        CampaignSums trials;
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
    [[nodiscard]] std::vector<rehearse::Campaign> campaigns(const model::Layout& layout, Seconds step_time) const;

    std::string identity_;
    model::Plan plan_;
    StopRule stop_;
    std::vector<std::string> names_;
    SearchStudy search_;
};

}  // namespace windtunnel::study
