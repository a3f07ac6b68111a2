#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "chain_binder.hpp"
#include "windtunnel/base/nearest.hpp"

namespace windtunnel::input {
namespace {

using model::MeasureKind;
using enum model::MeasureKind;

const std::vector<std::pair<std::string, MeasureKind>>& measure_words() {
    static const std::vector<std::pair<std::string, MeasureKind>> words{{"steady_state", steady_state},
                                                                        {"transient", transient},
                                                                        {"accumulated", accumulated},
                                                                        {"time_averaged", time_averaged},
                                                                        {"variance", variance},
                                                                        {"mean_time", mean_time},
                                                                        {"reward_until", reward_until},
                                                                        {"probability", probability},
                                                                        {"frequency", frequency},
                                                                        {"formula", formula},
                                                                        {"time_of_event", time_of_event},
                                                                        {"level", MeasureKind::level},
                                                                        {"derivative", derivative},
                                                                        {"elasticity", elasticity},
                                                                        {"range_mean", range_mean},
                                                                        {"range_variance", range_variance},
                                                                        {"first_order", first_order},
                                                                        {"total_effect", total_effect},
                                                                        {"morris_mean", morris_mean},
                                                                        {"morris_spread", morris_spread},
                                                                        {"birnbaum", birnbaum},
                                                                        {"criticality", criticality},
                                                                        {"downtime_share", downtime_share},
                                                                        {"improvement", improvement},
                                                                        {"fussell_vesely", fussell_vesely},
                                                                        {"risk_achievement", risk_achievement},
                                                                        {"risk_reduction", risk_reduction},
                                                                        {"interval", interval},
                                                                        {"wall_mean", wall_mean},
                                                                        {"wall_deviation", wall_deviation},
                                                                        {"efficiency", efficiency},
                                                                        {"clean_interval", clean_interval}};
    return words;
}

bool is_about_a_measure(MeasureKind kind) {
    return kind >= derivative && kind <= risk_reduction;
}
bool needs_by(MeasureKind kind) {
    return kind == MeasureKind::level || (is_about_a_measure(kind) && kind != range_mean && kind != range_variance);
}
bool is_of_ranges(MeasureKind kind) {
    return kind >= range_mean && kind <= morris_spread;
}
bool is_of_the_job(MeasureKind kind) {
    return kind >= interval;
}

}  // namespace

MeasureKind measure_kind(const std::string& word) {
    return enum_of<MeasureKind>(word, measure_words());
}

std::optional<double> ChainBinder::number(const Values& table, std::string_view key) {
    const model::StateFunction value = function(table, key, {{}, names_.constants});
    if (!value) return std::nullopt;
    const double found = value({});
    if (std::isfinite(found) || has_unknown_) return found;
    add(table[key].place, field_of(table, key), "is not finite", "a number");
    return std::nullopt;
}

std::optional<std::size_t> ChainBinder::measure_named(const std::string& name, const Place& place,
                                                      const std::string& field) {
    for (std::size_t i = 0; i < measures_.size(); ++i)
        if (measures_[i] == name) return i;
    add(place, field, fmt::format("\"{}\" is no measure before it", name),
        "nearest: " + base::nearest_name(name, measures_));
    return std::nullopt;
}

void ChainBinder::known_by(const model::ChainMeasure& one, const Place& place, const std::string& field) {
    std::vector<std::string> known;
    if (one.kind == MeasureKind::level) {
        for (const model::ChainLevel& level : chain_.levels) known.push_back(level.name);
    } else if (one.kind == derivative || one.kind == elasticity) {
        for (const model::ChainConstant& constant : chain_.constants) known.push_back(constant.name);
    } else if (is_of_ranges(one.kind)) {
        for (const model::ConstantRange& range : chain_.ranges) known.push_back(range.constant);
    } else {
        for (const model::ChainComponent& component : chain_.components) known.push_back(component.name);
        if (one.kind == downtime_share)
            for (const model::ChainTransition& transition : chain_.transitions) known.push_back(transition.name);
    }
    if (std::find(known.begin(), known.end(), one.by) == known.end())
        add(place, field, fmt::format("\"{}\" is not known", one.by), "nearest: " + base::nearest_name(one.by, known));
}

void ChainBinder::question(const Values& table, model::ChainMeasure& one) {
    const Place of_place = table["of"].place, by_place = table["by"].place;
    if (wants(table, "of", is_about_a_measure(one.kind), false)) {
        const auto of = measure_named(table.text("of"), of_place, field_of(table, "of"));
        if (of) one.of = *of;
    }
    if (wants(table, "by", needs_by(one.kind), false)) {
        one.by = table.text("by");
        known_by(one, by_place, field_of(table, "by"));
    }
    if (is_of_ranges(one.kind) && chain_.ranges.empty())
        add(table["kind"].place, field_of(table, "kind"), "there are no ranges", "[ranges] constant = [least, most]");
    if (wants(table, "events", one.kind == time_of_event, false)) {
        std::vector<std::string> known;
        for (const model::ChainTransition& transition : chain_.transitions) known.push_back(transition.name);
        for (const std::string& name : table["events"].texts) {
            const std::size_t before = one.events.size();
            for (std::size_t i = 0; i < known.size(); ++i)
                if (known[i] == name) one.events.push_back(i);
            if (one.events.size() == before)
                add(table["events"].place, field_of(table, "events"), fmt::format("{} is no transition", name),
                    "nearest: " + base::nearest_name(name, known));
        }
    }
    if (wants(table, "number", false, one.kind == time_of_event)) {
        const std::int64_t which = whole(table, "number");
        if (which < 1 || which > 1'000'000)
            add(table["number"].place, field_of(table, "number"), fmt::format("{} is no number of an event", which),
                "from 1 to 1000000");
        one.number = static_cast<std::uint64_t>(std::max<std::int64_t>(which, 1));
    }
    const bool stepped =
        one.kind == steady_state || one.kind == transient || one.kind == accumulated || one.kind == time_averaged;
    if (wants(table, "step", false, stepped)) {
        const auto step = number(table, "step");
        if (step && !(*step > 0.0) && !has_unknown_)
            add(table["step"].place, field_of(table, "step"), fmt::format("{} is no length of a step", *step),
                "above 0");
        one.step = step.value_or(1.0);
        const std::string& mode = table.text("step_mode");
        one.step_mode = mode == "linear"     ? model::StepMode::linear
                        : mode == "skeleton" ? model::StepMode::skeleton
                                             : model::StepMode::exponential;
    } else if (table.given("step_mode")) {
        add(table["step_mode"].place, field_of(table, "step_mode"), "has no meaning without a step", "step");
    }
    if (wants(table, "rule", false, is_of_the_job(one.kind))) {
        const std::string& rule = table.text("rule");
        one.rule = rule == "young"     ? model::IntervalRule::young
                   : rule == "daly"    ? model::IntervalRule::daly
                   : rule == "optimum" ? model::IntervalRule::optimum
                                       : model::IntervalRule::given;
    }
    if (!is_of_the_job(one.kind)) return;
    if (!chain_.checkpoint)
        add(table["kind"].place, field_of(table, "kind"), "there is no job with checkpoints", "[checkpoint]");
    else if (one.rule == model::IntervalRule::given && !chain_.checkpoint->interval)
        add(table.place, table.field, "the job has no interval of its own",
            "checkpoint.interval, or rule = \"optimum\"");
}

void ChainBinder::generate(const std::string& of, const std::string& kind, const std::string& by, const Place& place,
                           const std::string& field) {
    model::ChainMeasure one;
    one.kind = measure_kind(kind);
    one.by = by;
    one.place = file_place(place, field);
    one.generated = true;
    const auto found = measure_named(of, place, field);
    if (!found) return;
    one.of = *found;
    one.name = fmt::format("{}_{}{}{}", kind, of, by.empty() ? "" : "_", by);
    if (needs_by(one.kind)) known_by(one, place, field);
    if (!new_name(one.name, place, field)) return;
    // Behind all measures that the author wrote: nothing that they number moves.
    measures_.push_back(one.name);
    chain_.measures.push_back(std::move(one));
}

void ChainBinder::importance() {
    if (!file_.given("importance.of")) {
        if (file_.given("importance.by") || file_.given("importance.kinds"))
            add(file_.place, "importance.of", "is missing", "a measure");
        return;
    }
    std::vector<std::string> by = file_["importance.by"].texts, kinds = file_["importance.kinds"].texts;
    if (by.empty())
        for (const model::ChainComponent& component : chain_.components) by.push_back(component.name);
    if (kinds.empty()) kinds = {"birnbaum", "criticality", "improvement", "downtime_share"};
    const Place& place = file_["importance.of"].place;
    for (const std::string& kind : kinds) {
        const MeasureKind found = measure_kind(kind);
        if (found < birnbaum || found > risk_reduction) {
            add(place, "importance.kinds", fmt::format("\"{}\" is no importance", kind),
                "birnbaum, criticality, downtime_share, improvement, fussell_vesely, risk_achievement, risk_reduction");
            continue;
        }
        for (const std::string& one : by) generate(file_.text("importance.of"), kind, one, place, "importance");
    }
}

void ChainBinder::sensitivity() {
    if (!file_.given("sensitivity.of")) {
        if (file_.given("sensitivity.by") || file_.given("sensitivity.kinds"))
            add(file_.place, "sensitivity.of", "is missing", "a list of measures");
        return;
    }
    std::vector<std::string> kinds = file_["sensitivity.kinds"].texts;
    std::vector<std::string> ranged, all;
    for (const model::ConstantRange& range : chain_.ranges) ranged.push_back(range.constant);
    for (const model::ChainConstant& constant : chain_.constants) all.push_back(constant.name);
    std::vector<std::string> by = file_["sensitivity.by"].texts;
    if (by.empty()) by = ranged.empty() ? all : ranged;
    if (kinds.empty()) {
        kinds = {"derivative", "elasticity"};
        if (!ranged.empty()) kinds.insert(kinds.end(), {"first_order", "total_effect", "morris_mean", "morris_spread"});
    }
    const Place& place = file_["sensitivity.of"].place;
    for (const std::string& of : file_["sensitivity.of"].texts)
        for (const std::string& kind : kinds) {
            const MeasureKind found = measure_kind(kind);
            if (found < derivative || found > morris_spread) {
                add(place, "sensitivity.kinds", fmt::format("\"{}\" is no sensitivity", kind),
                    "derivative, elasticity, range_mean, range_variance, first_order, total_effect, morris_mean, "
                    "morris_spread");
                continue;
            }
            if (!needs_by(found)) {
                generate(of, kind, "", place, "sensitivity");
                continue;
            }
            for (const std::string& one : by) generate(of, kind, one, place, "sensitivity");
        }
}

void ChainBinder::break_even(const Values& table) {
    model::BreakEven one;
    one.place = file_place(table.place, table.field);
    const auto measure = measure_named(table.text("measure"), table["measure"].place, field_of(table, "measure"));
    if (measure) one.measure = *measure;
    one.target = number(table, "target").value_or(0.0);
    one.least = number(table, "least").value_or(0.0);
    one.most = number(table, "most").value_or(1.0);
    if (!(one.least < one.most))
        add(table["most"].place, field_of(table, "most"), fmt::format("{} is not above {}", one.most, one.least),
            "a range");
    std::vector<std::string> known;
    for (const model::ChainConstant& constant : chain_.constants) known.push_back(constant.name);
    one.unknown = table.text("unknown");
    if (std::find(known.begin(), known.end(), one.unknown) == known.end())
        add(table["unknown"].place, field_of(table, "unknown"), fmt::format("\"{}\" is no constant", one.unknown),
            "nearest: " + base::nearest_name(one.unknown, known));
    for (const Member& member : table["over"].members) {
        const std::string field = field_of(table, "over." + member.key.substr(0, 100));
        if (!one.over.empty() || std::find(known.begin(), known.end(), member.key) == known.end()) {
            add(member.place, field, one.over.empty() ? "is no constant" : "is a third constant",
                "one constant = list of its values");
            continue;
        }
        one.over = member.key;
        one.values = law_numbers(member.node, field, false);
    }
    chain_.break_evens.push_back(std::move(one));
}

}  // namespace windtunnel::input
