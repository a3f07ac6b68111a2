#include "windtunnel/report/search_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "windtunnel/report/json_parts.hpp"
#include "windtunnel/report/plan_notes.hpp"
#include "windtunnel/report/plan_summary.hpp"
#include "windtunnel/report/text_table.hpp"
#include "windtunnel/report/train_answer.hpp"
#include "windtunnel/report/units.hpp"

namespace windtunnel::report {
namespace {

using study::RankedDesign;
using study::SearchAnswer;

std::string whole(std::uint64_t number) {
    return grouped(static_cast<std::int64_t>(number));
}
Json finite(double value) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json design_json(const RankedDesign& design) {
    return {{"index", design.index},
            {"layout", layout_json(design.layout)},
            {"step_time_s", design.step_time.value()},
            {"closed_form_s", design.closed_form.value()},
            {"tokens_per_second", design.tokens_per_second},
            {"mfu", design.mfu},
            {"memory_bytes", design.memory.value()},
            {"fullest_stage", design.fullest_stage},
            {"time_to_tokens_s", finite(design.time_to_tokens.value())},
            {"cost_usd", finite(design.cost.value())},
            {"energy_j", finite(design.energy.value())}};
}

/// Columns of money, energy and time only where the plan makes them known.
std::string designs_table(const std::vector<RankedDesign>& designs, std::size_t top) {
    const std::size_t count = std::min(top, designs.size());
    const auto known = [&](auto value) {
        return std::any_of(designs.begin(), designs.begin() + static_cast<std::ptrdiff_t>(count),
                           [&](const RankedDesign& design) { return std::isfinite(value(design)); });
    };
    const bool time = known([](const RankedDesign& design) { return design.time_to_tokens.value(); });
    const bool cost = known([](const RankedDesign& design) { return design.cost.value(); });
    const bool energy = known([](const RankedDesign& design) { return design.energy.value(); });
    std::vector<std::string> heads{"rank", "step", "tokens/s", "MFU", "memory"};
    if (time) heads.emplace_back("time to tokens");
    if (cost) heads.emplace_back("cost");
    if (energy) heads.emplace_back("energy");
    heads.emplace_back("layout");
    TextTable table{heads};
    for (std::size_t i = 0; i < count; ++i) {
        const RankedDesign& design = designs[i];
        std::vector<std::string> cells{fmt::format("{}", i + 1), human(design.step_time),
                                       human_count(design.tokens_per_second), percent(design.mfu),
                                       human(design.memory)};
        if (time) cells.push_back(human(design.time_to_tokens));
        if (cost) cells.push_back(human(design.cost));
        if (energy) cells.push_back(human(design.energy));
        cells.push_back(model::to_text(design.layout));
        table.add_row(std::move(cells));
    }
    return table.text();
}

std::string verdicts_table(const SearchAnswer& answer) {
    TextTable table{{"verdict", "designs", "meaning"}};
    for (int i = 0; i < model::num_verdict_reasons; ++i) {
        const auto reason = static_cast<model::VerdictReason>(i);
        const std::uint64_t designs = answer.designs[static_cast<std::size_t>(i)];
        if (designs > 0) table.add_row({model::to_text(reason), whole(designs), model::explain(reason)});
    }
    table.add_row({"all", whole(answer.space_size), "size of the space"});
    return table.text();
}

std::string margin_text(const study::MarginCheck& check) {
    std::string text = fmt::format(
        "executor: {} designs whose closed form is within {} of the last one listed; {} others as a check\n",
        whole(check.candidates), percent(check.margin), whole(check.sampled));
    text += fmt::format("executor over closed form: {:.4f} to {:.4f}, spread {}\n", check.least_ratio,
                        check.greatest_ratio, percent(check.spread()));
    if (!check.covers_spread())
        text +=
            "WARNING: the spread is wider than the margin, a design outside it may be better: raise search.margin\n";
    if (check.sample_in_top > 0)
        text += fmt::format("WARNING: {} designs outside the margin belong to the best: raise search.margin\n",
                            whole(check.sample_in_top));
    if (check.cut)
        text += "WARNING: more designs were within the margin than are kept: lower search.margin or search.top\n";
    return text;
}

}  // namespace

std::string winner_text(const model::Plan& plan, const SearchAnswer& answer) {
    if (!answer.feasible())
        return fmt::format("nothing is feasible: none of {} designs can be used\n", whole(answer.space_size));
    const RankedDesign& best = answer.best.front();
    return fmt::format(
        "best layout of {} designs, of which {} fit: step {}   MFU {}   {} tokens/s   memory {}\nlayout   {}\ngroups   "
        "{}\n",
        whole(answer.space_size), whole(answer.fitting()), human(best.step_time), percent(best.mfu),
        human_count(best.tokens_per_second), human(best.memory), model::to_text(best.layout),
        groups_text(plan.transformer, best.layout));
}

std::string search_text(const model::Plan& plan, const SearchAnswer& answer, std::size_t top) {
    std::string text = plan.title + '\n' + winner_text(plan, answer);
    if (answer.feasible()) {
        text += fmt::format("\nbest {} of {}\n{}", std::min(top, answer.best.size()), answer.best.size(),
                            designs_table(answer.best, top));
        text += fmt::format("\nPareto front, {} points{}\n{}", answer.pareto.size(),
                            answer.pareto_cut ? " (more exist than are kept)" : "", designs_table(answer.pareto, top));
    }
    text += "\nverdicts\n" + verdicts_table(answer);
    if (answer.feasible()) text += margin_text(answer.check);
    return text + plan_notes(plan);
}

Json search_object(const SearchAnswer& answer, std::size_t top) {
    Json verdicts = Json::object();
    for (int i = 0; i < model::num_verdict_reasons; ++i)
        verdicts[model::to_text(static_cast<model::VerdictReason>(i))] = answer.designs[static_cast<std::size_t>(i)];
    const auto list = [](const std::vector<RankedDesign>& designs, std::size_t most) {
        Json rows = Json::array();
        for (std::size_t i = 0; i < std::min(most, designs.size()); ++i) rows.push_back(design_json(designs[i]));
        return rows;
    };
    return {{"num_designs", answer.space_size},
            {"reached_memory", answer.reached_memory},
            {"verdicts", verdicts},
            {"best", list(answer.best, top)},
            {"pareto", list(answer.pareto, answer.pareto.size())},
            {"pareto_cut", answer.pareto_cut},
            {"margin_check",
             {{"margin", answer.check.margin},
              {"candidates", answer.check.candidates},
              {"cut", answer.check.cut},
              {"sampled", answer.check.sampled},
              {"sample_in_top", answer.check.sample_in_top},
              {"above_limit", answer.check.above_limit},
              {"least_ratio", finite(answer.check.least_ratio)},
              {"greatest_ratio", finite(answer.check.greatest_ratio)},
              {"covers_spread", answer.check.covers_spread()}}}};
}

std::string search_json(const model::Plan& plan, const SearchAnswer& answer, std::size_t top) {
    Json document{{"title", plan.title}};
    document.update(search_object(answer, top));
    document["implicit_defaults"] = plan.implicit_defaults;
    document["assumptions"] = plan.assumptions;
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace windtunnel::report
