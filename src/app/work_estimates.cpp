#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "windtunnel/app/plan_facts.hpp"
#include "windtunnel/driver/openmp.hpp"
#include "windtunnel/report/units.hpp"
#include "windtunnel/study/avail_study.hpp"
#include "windtunnel/study/layout_choice.hpp"
#include "windtunnel/study/rehearse_study.hpp"
#include "windtunnel/study/schema.hpp"
#include "windtunnel/study/train_study.hpp"

namespace windtunnel::app {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double golden_ratio = 0.6180339887498949;  // its multiples modulo 1 spread evenly

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// What a result file of these tables takes: HDF5 needs about 2,150 bytes a dataset beside the values, measured on
/// files of 65 to 185 datasets; texts of a column are as wide as the longest, and the plan stands there twice.
Bytes file_bytes(const model::Plan& plan, const std::vector<store::TableSchema>& tables, double values) {
    constexpr double bytes_per_dataset = 2150.0, bytes_per_value = 8.0;
    constexpr std::size_t provenance_datasets = 25;
    std::size_t datasets = provenance_datasets, longest = 0, longest_note = 0;
    for (const store::TableSchema& table : tables) datasets += table.columns.size();
    for (const model::InputFile& file : plan.files) longest = std::max(longest, file.text.size());
    for (const std::string& note : plan.assumptions) longest_note = std::max(longest_note, note.size());
    const std::size_t texts =
        2 * plan.resolved_text.size() + plan.files.size() * longest + plan.assumptions.size() * longest_note;
    return Bytes{bytes_per_dataset * static_cast<double>(datasets) + static_cast<double>(texts) +
                 bytes_per_value * values};
}

std::vector<store::TableSchema> trial_schemas(const std::string& group, const std::vector<std::string>& variants) {
    return {study::trials_summary_schema(group, variants), study::trials_quantiles_schema(group, variants),
            study::trials_causes_schema(group, variants),  study::trials_phases_schema(group, variants),
            study::trials_job_schema(group, variants),     study::trials_sensitivity_schema(group, variants)};
}

std::vector<store::TableSchema> search_schemas() {
    return {study::search_best_schema(), study::search_pareto_schema(), study::search_verdicts_schema(),
            study::search_margin_check_schema()};
}

std::vector<store::TableSchema> train_schemas() {
    return {study::train_summary_schema(), study::train_parts_schema(), study::train_memory_schema(),
            study::train_timeline_schema()};
}

std::vector<store::TableSchema> together(std::vector<std::vector<store::TableSchema>> parts) {
    std::vector<store::TableSchema> all;
    for (auto& part : parts) std::move(part.begin(), part.end(), std::back_inserter(all));
    return all;
}

/// A step that visits every number below `size` once, in an even spread.
std::uint64_t spreading_step(std::uint64_t size) {
    auto step = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(golden_ratio * static_cast<double>(size)));
    while (std::gcd(step, size) != 1) ++step;
    return step;
}

/// Seconds of one core for the closed forms of the whole space and for the executor on those that it will be asked for.
/// Small spaces are walked whole; of larger ones blocks spread over the space, for a fraction of a second.
double search_seconds(const study::SearchStudy& search) {
    constexpr double longest_walk_s = 0.25, longest_executor_s = 0.15;
    const auto round = search.next_round(search.start());
    if (!round || round->num_items == 0) return 0.0;
    search::SweepResult found = search.sweep().nothing();
    const std::uint64_t blocks = round->num_blocks(), step = spreading_step(blocks);
    std::uint64_t walked = 0, at = 0;
    auto start = Clock::now();
    for (; walked < blocks && (walked == 0 || seconds_since(start) < longest_walk_s); ++walked) {
        const std::uint64_t begin = at * round->items_per_block;
        found.merge(
            search.evaluate(*round, {begin, std::min(begin + round->items_per_block, round->num_items)}, {}).sweep);
        at = (at + step) % blocks;
    }
    const double whole = static_cast<double>(blocks) / static_cast<double>(walked);
    const double sweep_seconds = seconds_since(start) * whole;

    std::vector<std::uint64_t> designs = found.sample.indices();
    for (const search::Candidate& candidate : found.best.candidates()) designs.push_back(candidate.index);
    for (const search::FrontPoint& point : found.front.points()) designs.push_back(point.index);
    if (designs.empty()) return sweep_seconds;
    train::StepWorkspace workspace;
    std::size_t run = 0;
    const std::size_t stride = spreading_step(designs.size());
    start = Clock::now();
    for (; run < designs.size() && (run == 0 || seconds_since(start) < longest_executor_s); ++run)
        (void)search.sweep().step_time(designs[run * stride % designs.size()], workspace);
    const double most = static_cast<double>(search::BestList::default_capacity + search::Sample::most);
    const double asked = std::min(most, static_cast<double>(designs.size()) * whole);
    return sweep_seconds + asked * seconds_since(start) / static_cast<double>(run);
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
    constexpr double long_enough_s = 0.1;
    constexpr int most_slices = 256;
    const auto start = Clock::now();
    std::uint64_t items = 0;
    for (int probe = 0; probe < most_slices && (probe == 0 || seconds_since(start) < long_enough_s); ++probe) {
        const double place = std::fmod(golden_ratio * (probe + 1), 1.0) * static_cast<double>(slices);
        const std::uint64_t begin = std::min(static_cast<std::uint64_t>(place), slices - 1) * round->items_per_slice;
        const std::uint64_t end = std::min(begin + round->items_per_slice, round->num_items);
        (void)study.evaluate(*round, {begin, end}, context);
        items += end - begin;
    }
    return seconds_since(start) / static_cast<double>(items);
}

/// With what every run needs to start, to end and to write its file.
Seconds on_all_cores(double seconds_of_one_core) {
    constexpr double around_s = 0.1;
    return Seconds{around_s + seconds_of_one_core / driver::choose_threads(0, 1)};
}

std::string counted(std::uint64_t number, const char* what) {
    return report::grouped(static_cast<std::int64_t>(number)) + " " + what;
}

/// Of train/timeline: three tasks a micro-batch and chunk of a stage, at 70 bytes; the winner of a search is taken to
/// be like the published layout.
double timeline_values(const model::Layout& layout) {
    constexpr double tasks = 3.0, bytes_per_task = 70.0;
    const double rows = tasks * layout.pipeline_parallel * layout.virtual_pipeline *
                        static_cast<double>(std::max<std::int64_t>(1, layout.num_micro_batches()));
    return std::min(rows, static_cast<double>(study::most_timeline_rows)) * bytes_per_task / sizeof(double);
}

}  // namespace

std::vector<report::WorkEstimate> work_estimates(const model::Plan& plan) {
    std::vector<report::WorkEstimate> work;
    const study::SearchStudy search{plan};
    const std::uint64_t designs = search.sweep().space().size();
    const double of_search = search_seconds(search);
    const double search_values =
        2.0 * static_cast<double>(plan.search.top * study::search_best_schema().columns.size());
    work.push_back({"search", counted(designs, "designs"), on_all_cores(of_search),
                    file_bytes(plan, search_schemas(), search_values)});
    const bool ends = plan.rehearsal.horizon || plan.rehearsal.tokens || plan.training->tokens > 0;
    const bool one_layout = plan.training->published || designs == 1;
    if (!ends) return work;
    const std::vector<std::string> names = study::variant_names(plan);
    const std::uint64_t trials = static_cast<std::uint64_t>(plan.rehearsal.trials) * names.size();
    const auto all = together({search_schemas(), trial_schemas("rehearsal", names), train_schemas()});
    std::optional<Seconds> of_rehearsal;
    double of_timeline = 0.0;
    if (one_layout) {
        of_timeline = timeline_values(study::chosen_layout(plan));
        const study::AvailStudy avail{plan};
        const double of_trials = seconds_per_item(avail) * static_cast<double>(trials);
        work.push_back({"avail", counted(trials, "histories"), on_all_cores(of_trials),
                        file_bytes(plan, trial_schemas("avail", names), 0.0)});
        of_rehearsal = on_all_cores(of_search + of_trials);
    }
    work.push_back({"rehearse", counted(designs, "designs, ") + counted(trials, "histories"), of_rehearsal,
                    file_bytes(plan, all, search_values + of_timeline)});
    return work;
}

}  // namespace windtunnel::app
