#pragma once
/// One layout, or the same layout on a series of card counts: step time with its parts, MFU, memory, verdict.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "windtunnel/model/verdict.hpp"
#include "windtunnel/study/study.hpp"
#include "windtunnel/train/step.hpp"

namespace windtunnel::study {

/// Card counts first, first x factor, ... up to last.
struct CardSweep {
    int first = 0, last = 0;
    double factor = 2.0;  ///< > 1
};

struct TrainOptions {
    std::optional<CardSweep> sweep;  ///< the batch grows with the cards, rounded to what divides
};

/// One layout.
struct TrainPoint {
    model::Layout layout;
    model::Verdict verdict;
    /// Absent where a rule between values is broken; a layout out of memory has them.
    std::optional<train::StepResult> step;
    Seconds closed_form;
    std::vector<train::StageMemory> memory;  ///< by pipeline stage
    Bytes usable_memory;                     ///< of a card
    int smallest_cards = 0;                  ///< that fit; 0: none
    int largest_micro_batch = 0;             ///< that fits; 0: none
    double linearity = 1.0;                  ///< tokens per second and card, relative to the first point
};

struct TrainAnswer {
    std::vector<TrainPoint> points;  ///< one without a sweep
    [[nodiscard]] bool feasible() const noexcept {
        for (const TrainPoint& point : points)
            if (!point.verdict.feasible()) return false;
        return !points.empty();
    }
};

class TrainStudy {
public:
    /// Throws base::InputError: no single layout, a sweep without card counts.
    explicit TrainStudy(const model::Plan& plan, const TrainOptions& options = {});

    using Partial = std::vector<TrainPoint>;  ///< packed without their layouts
    struct State {
        std::vector<TrainPoint> points;
    };

    [[nodiscard]] std::string identity() const { return identity_; }
    [[nodiscard]] State start() const { return {}; }
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

    [[nodiscard]] TrainAnswer answer(const State& state) const;
    [[nodiscard]] const std::vector<model::Layout>& layouts() const noexcept { return layouts_; }

private:
    std::string identity_;
    std::vector<model::Layout> layouts_;
    train::Job job_;
};

/// Everything that `train` says about one layout.
[[nodiscard]] TrainPoint train_point(const train::Job& job, const model::Layout& layout);
/// train/summary, parts, memory of all points, timeline of the first one: also of the winner of a rehearsal.
[[nodiscard]] std::vector<store::Table> train_tables(const train::Job& job, const std::vector<TrainPoint>& points);
/// Rows of train/timeline at most; a longer step is cut off at a moment, the same for all stages.
inline constexpr std::size_t most_timeline_rows = 4'000;

}  // namespace windtunnel::study
