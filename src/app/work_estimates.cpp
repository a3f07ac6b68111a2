#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "windtunnel/app/plan_facts.hpp"
#include "windtunnel/driver/openmp.hpp"
#include "windtunnel/report/units.hpp"
#include "windtunnel/study/avail_study.hpp"
#include "windtunnel/study/rehearse_study.hpp"
#include "windtunnel/study/schema.hpp"

namespace windtunnel::app {
namespace {

constexpr double column_bytes = 8.0;
constexpr double provenance_bytes = 64'000.0;  ///< input texts and attributes of a typical plan

double row_bytes(const store::TableSchema& schema) {
    return column_bytes * static_cast<double>(schema.columns.size());
}

/// Seconds for one item of the study's first round, from slices spread over the round: parts of a space that are cut
/// off at once lie together.
template <class S>
double seconds_per_item(const S& study) {
    const auto state = study.start();
    const auto round = study.next_round(state);
    if (!round || round->num_items == 0) return 0.0;
    const std::string context = study.round_context(state, *round);
    const std::uint64_t slices = (round->num_items - 1) / round->items_per_slice + 1;
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds long_enough{100};
    constexpr int most_slices = 256;
    constexpr double golden_ratio = 0.6180339887498949;  // its multiples modulo 1 spread evenly
    const auto start = Clock::now();
    std::uint64_t items = 0;
    for (int probe = 0; probe < most_slices && (probe == 0 || Clock::now() - start < long_enough); ++probe) {
        const double place = std::fmod(golden_ratio * (probe + 1), 1.0) * static_cast<double>(slices);
        const std::uint64_t begin = std::min(static_cast<std::uint64_t>(place), slices - 1) * round->items_per_slice;
        const std::uint64_t end = std::min(begin + round->items_per_slice, round->num_items);
        (void)study.evaluate(*round, {begin, end}, context);
        items += end - begin;
    }
    return std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(items);
}

Seconds on_all_cores(double seconds_of_one_core) {
    return Seconds{seconds_of_one_core / driver::choose_threads(0, 1)};
}

std::string counted(std::uint64_t number, const char* what) {
    return report::grouped(static_cast<std::int64_t>(number)) + " " + what;
}

}  // namespace

std::vector<report::WorkEstimate> work_estimates(const model::Plan& plan) {
    std::vector<report::WorkEstimate> work;
    const study::SearchStudy search{plan};
    const std::uint64_t designs = search.sweep().space().size();
    const double search_seconds = seconds_per_item(search) * static_cast<double>(designs);
    const double best_bytes = 2.0 * plan.search.top * row_bytes(study::search_best_schema());
    work.push_back(
        {"search", counted(designs, "designs"), on_all_cores(search_seconds), Bytes{best_bytes + provenance_bytes}});
    const bool ends = plan.rehearsal.horizon || plan.rehearsal.tokens || plan.training->tokens > 0;
    const bool one_layout = plan.training->published || designs == 1;
    if (!ends) return work;
    const auto trials = static_cast<std::uint64_t>(plan.rehearsal.trials) * study::variant_names(plan).size();
    if (one_layout) {
        const study::AvailStudy avail{plan};
        const double trial_seconds = seconds_per_item(avail) * static_cast<double>(trials);
        work.push_back({"avail", counted(trials, "histories"), on_all_cores(trial_seconds), Bytes{provenance_bytes}});
        work.push_back({"rehearse", counted(designs, "designs, ") + counted(trials, "histories"),
                        on_all_cores(search_seconds + trial_seconds), Bytes{best_bytes + provenance_bytes}});
    } else {
        work.push_back({"rehearse", counted(designs, "designs, ") + counted(trials, "histories"), std::nullopt,
                        Bytes{best_bytes + provenance_bytes}});
    }
    return work;
}

}  // namespace windtunnel::app
