#include "windtunnel/report/trials_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "windtunnel/report/json_parts.hpp"
#include "windtunnel/report/plan_notes.hpp"
#include "windtunnel/report/search_answer.hpp"
#include "windtunnel/report/text_table.hpp"
#include "windtunnel/report/train_answer.hpp"
#include "windtunnel/report/trials_text.hpp"
#include "windtunnel/report/units.hpp"

namespace windtunnel::report {
namespace {

using study::VariantAnswer;

Json document_of(const model::Plan& plan) {
    return {{"title", plan.title}};
}

std::string dumped(Json& document, const model::Plan& plan) {
    document["implicit_defaults"] = plan.implicit_defaults;
    document["assumptions"] = plan.assumptions;
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string avail_text(const model::Plan& plan, const study::AvailAnswer& answer) {
    std::string text = plan.title + '\n';
    if (!answer.feasible()) return text + train_point_text(plan, answer.layout) + plan_notes(plan, {"search", "cost"});
    text += useful_lines(answer.variants);
    text += fmt::format("layout   {}, step {}\n", model::to_text(answer.layout.layout),
                        human(answer.layout.step->step_time));
    return text + trials_tables(answer.variants) + plan_notes(plan, {"search", "cost"});
}

std::string avail_json(const model::Plan& plan, const study::AvailAnswer& answer) {
    Json document = document_of(plan);
    document["layout"] = layout_json(answer.layout.layout);
    document["verdict"] = model::to_text(answer.layout.verdict.reason);
    if (answer.layout.step) document["step_time_s"] = answer.layout.step->step_time.value();
    document["variants"] = variants_array(answer.variants);
    return dumped(document, plan);
}

std::string rehearse_text(const model::Plan& plan, const study::RehearseAnswer& answer, std::size_t top) {
    if (!answer.feasible()) return search_text(plan, answer.search, top);
    std::string text = plan.title + '\n' + time_lines(plan, answer) + useful_lines(answer.variants);
    text += winner_text(plan, answer.search);
    for (const study::TrainPoint& point : answer.winner) text += train_point_text(plan, point);
    text += trials_tables(answer.variants) + '\n';
    const std::string search = search_text(plan, answer.search, top);
    return text + search.substr(search.find('\n') + 1);
}

std::string rehearse_json(const model::Plan& plan, const study::RehearseAnswer& answer, std::size_t top) {
    Json document = document_of(plan);
    document["variants"] = variants_array(answer.variants);
    document["time_to_tokens"] = times_array(answer);
    for (const study::TrainPoint& point : answer.winner) document["winner"] = point_json(point);
    document["search"] = search_object(answer.search, top);
    return dumped(document, plan);
}

std::string exact_text(const model::Plan& plan, const study::TrainPoint& layout,
                       const std::vector<ExactVariant>& variants) {
    std::string text = fmt::format("{}\nexact, in the long run\n", plan.title);
    TextTable table{{"variant", "useful share", "availability", "failures per day", "time to the last token", "note"}};
    for (const ExactVariant& variant : variants) {
        if (!variant.exact.answer) {
            table.add_row({variant.name, "-", "-", "-", "-", variant.exact.reason});
            continue;
        }
        const avail::ExactAnswer& exact = *variant.exact.answer;
        table.add_row({variant.name, percent(exact.goodput), percent(exact.availability),
                       fmt::format("{:.4g}", exact.stop_rate.value() * base::day.value()),
                       exact.wall ? human(*exact.wall) : "-", ""});
    }
    text += table.text() + fmt::format("layout   {}\n", model::to_text(layout.layout));
    return text + plan_notes(plan, {"search", "cost"});
}

std::string exact_json(const model::Plan& plan, const std::vector<ExactVariant>& variants) {
    Json document = document_of(plan);
    Json rows = Json::array();
    for (const ExactVariant& variant : variants) {
        Json row{{"name", variant.name}, {"reason", variant.exact.reason}};
        if (variant.exact.answer) {
            const avail::ExactAnswer& exact = *variant.exact.answer;
            row["useful_share"] = exact.goodput;
            row["availability"] = exact.availability;
            row["stops_per_s"] = exact.stop_rate.value();
            row["wall_s"] = exact.wall ? Json(exact.wall->value()) : Json(nullptr);
            row["shortage"] = exact.shortage;
        }
        rows.push_back(std::move(row));
    }
    document["variants"] = rows;
    return dumped(document, plan);
}

std::string histories_text(const std::vector<PrintedHistory>& histories, std::int64_t trial) {
    std::string text;
    for (const PrintedHistory& printed : histories) {
        const avail::History& history = printed.history;
        text += fmt::format("trial {}, variant {}: {} in {}, useful {}, {} stops, {} checkpoints, fewest spares {}\n",
                            trial, printed.name, history.finished ? "finished" : "not finished", human(history.wall),
                            percent(history.useful / history.wall), history.stops, history.checkpoints,
                            history.fewest_spares);
        TextTable table{{"at", "event", "steps done", "spares"}};
        for (const avail::HistoryEvent& event : printed.events)
            table.add_row({fmt::format("{:.3f} h", event.at.value() / base::hour.value()), event.what,
                           fmt::format("{:.1f}", event.steps_done), fmt::format("{}", event.spares)});
        text += table.text();
    }
    return text;
}

std::string histories_json(const std::vector<PrintedHistory>& histories, std::int64_t trial) {
    Json list = Json::array();
    for (const PrintedHistory& printed : histories) {
        const avail::History& history = printed.history;
        Json events = Json::array();
        for (const avail::HistoryEvent& event : printed.events)
            events.push_back({{"at_s", event.at.value()},
                              {"what", event.what},
                              {"steps_done", event.steps_done},
                              {"spares", event.spares}});
        list.push_back({{"variant", printed.name},
                        {"finished", history.finished},
                        {"wall_s", history.wall.value()},
                        {"useful_s", history.useful.value()},
                        {"slowed_s", history.slowed.value()},
                        {"checkpoint_s", history.checkpoint.value()},
                        {"lost_s", history.lost.value()},
                        {"recovery_s", history.recovery.value()},
                        {"detection_s", history.detection.value()},
                        {"waiting_s", history.waiting.value()},
                        {"stops", history.stops},
                        {"checkpoints", history.checkpoints},
                        {"fewest_spares", history.fewest_spares},
                        {"events", events}});
    }
    const Json document{{"trial", trial}, {"histories", list}};
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace windtunnel::report
