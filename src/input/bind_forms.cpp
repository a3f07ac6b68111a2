#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "chain_binder.hpp"
#include "windtunnel/base/nearest.hpp"

namespace windtunnel::input {

void ChainBinder::ranges() {
    for (const Member& member : file_["ranges"].members) {
        const std::string field = "ranges." + member.key.substr(0, 100);
        if (member.node.kind != Node::Kind::array || member.node.items.size() != 2) {
            add(member.node.place, field, describe(member.node) + " is no range", "[least, most]");
            continue;
        }
        const auto least = law_number(member.node.items[0], field, false),
                   most = law_number(member.node.items[1], field, false);
        if (!least || !most) continue;
        if (!(*least < *most)) {
            add(member.node.place, field, fmt::format("{} is not below {}", *least, *most), "[least, most]");
            continue;
        }
        if (!names_.constants.contains(member.key)) {
            if (!file_.given("function.formula")) {
                std::vector<std::string> known;
                for (const model::ChainConstant& one : chain_.constants) known.push_back(one.name);
                add(member.place, field, "the file has no such constant",
                    "nearest: " + base::nearest_name(member.key, known));
                continue;
            }
            if (!new_name(member.key, member.place, field)) continue;
            names_.constants[member.key] = 0.5 * (*least + *most);
            chain_.constants.push_back({member.key, names_.constants[member.key], false});
        }
        chain_.ranges.push_back({member.key, *least, *most});
    }
    chain_.samples = file_["samples"].integer;
}

void ChainBinder::function_form() {
    if (!file_.given("function.formula")) return;
    const Value& text = file_["function.formula"];
    Names names{{}, names_.constants};
    std::vector<double> nominal;
    for (const model::ConstantRange& range : chain_.ranges) {
        names.variables.push_back(range.constant);
        nominal.push_back(names.constants[range.constant]);
        names.constants.erase(range.constant);
    }
    chain_.function = function(text.text, text.place, "function.formula", names, true);
    model::ChainMeasure one;
    one.name = file_.text("function.name");
    one.kind = model::MeasureKind::formula;
    one.place = file_place(text.place, "function");
    one.generated = true;
    if (!chain_.function || !new_name(one.name, text.place, "function.name")) return;
    one.formula = [f = chain_.function, nominal](std::span<const double>) { return f(nominal); };
    measures_.push_back(one.name);
    chain_.measures.push_back(std::move(one));
}

void ChainBinder::checkpoint() {
    if (!file_.given("checkpoint.mtbf")) {
        if (file_.has_section("checkpoint"))
            add(file_.place, "checkpoint.mtbf", "is missing", "mean time between failures");
        return;
    }
    model::CheckpointCycle job;
    job.place = file_place(file_["checkpoint.mtbf"].place, "checkpoint");
    const auto at_least = [&](const char* key, double least, bool open) {
        const auto value = number(file_, key);
        if (value && (*value < least || (open && *value == least)))
            add(file_[key].place, key, fmt::format("is {}", *value),
                fmt::format("{} {}", open ? "above" : "at least", least));
        return value.value_or(1.0);
    };
    job.mtbf = at_least("checkpoint.mtbf", 0.0, true);
    job.write = at_least("checkpoint.write", 0.0, false);
    job.work = at_least("checkpoint.work", 0.0, true);
    if (file_.given("checkpoint.interval")) job.interval = at_least("checkpoint.interval", 0.0, true);
    if (!file_.given("checkpoint.failures_in_recovery"))
        add(file_["checkpoint.mtbf"].place, "checkpoint.failures_in_recovery", "is missing",
            "true: failures strike restarts too; false: they do not. The two are different formulas");
    job.failures_in_recovery = file_.flag("checkpoint.failures_in_recovery");
    const std::vector<Values>& layers = file_["checkpoint.layer"].tables;
    if (file_.given("checkpoint.restart") != layers.empty())
        add(file_["checkpoint.mtbf"].place, "checkpoint",
            layers.empty() ? "has no restart and no layers" : "has a restart and layers", "one of the two");
    if (layers.empty()) {
        const auto law = time_law(file_, "checkpoint.restart");
        if (law) job.layers.push_back({"restart", 1.0, *law, 0.0, true});
    }
    double sum = 0.0;
    for (const Values& table : layers) {
        model::CheckpointCycle::Layer layer;
        layer.name = table.text("name");
        layer.fraction = number(table, "fraction").value_or(0.0);
        if (!(layer.fraction >= 0.0 && layer.fraction <= 1.0))
            add(table["fraction"].place, field_of(table, "fraction"), fmt::format("{} is no share", layer.fraction),
                "from 0 to 1");
        sum += layer.fraction;
        if (const auto law = time_law(table, "recover")) layer.recover = *law;
        if (table.given("lost_work")) {
            layer.lost_work = number(table, "lost_work").value_or(0.0);
            layer.to_checkpoint = false;
            if (layer.lost_work < 0.0)
                add(table["lost_work"].place, field_of(table, "lost_work"), fmt::format("is {}", layer.lost_work),
                    "0 or more");
        }
        job.layers.push_back(std::move(layer));
    }
    if (!layers.empty() && std::abs(sum - 1.0) > 1e-9)
        add(file_["checkpoint.layer"].place, "checkpoint.layer",
            fmt::format("the fractions sum to {}: the ladder has a gap", sum), "1");
    chain_.checkpoint = std::move(job);
}

void ChainBinder::level(const Values& table) {
    model::ChainLevel one;
    one.name = table.text("name");
    const std::size_t before = findings_.size();
    std::vector<std::string> known;
    for (const model::ChainComponent& component : chain_.components) known.push_back(component.name);
    for (const model::ChainLevel& other : chain_.levels) known.push_back(other.name);
    const std::vector<Member>& needs = table["need"].members;
    for (const Member& member : table["of"].members) {
        const std::string field = field_of(table, "of." + member.key.substr(0, 100));
        model::ChainLevel::Member part;
        const auto found = std::find(known.begin(), known.end(), member.key);
        const bool own = member.key == one.name;
        if (found == known.end()) {
            add(member.place, field,
                own ? "a level cannot hold itself: the structure has a cycle" : "no component and no level before it",
                "nearest: " + base::nearest_name(member.key, known) +
                    "; levels stand from the smallest to the largest");
            continue;
        }
        part.index = static_cast<std::size_t>(found - known.begin());
        part.is_level = part.index >= chain_.components.size();
        if (part.is_level) part.index -= chain_.components.size();
        const auto count = [&](const Node& node, const std::string& where) -> std::int64_t {
            const auto value = law_number(node, where, false);
            if (value && *value >= 0.0 && *value <= 1e7 && std::floor(*value) == *value)
                return static_cast<std::int64_t>(*value);
            add(node.place, where, describe(node) + " is no number of copies", "an integer from 0 to 10000000");
            return 1;
        };
        part.copies = part.needed = count(member.node, field);
        for (const Member& need : needs)
            if (need.key == member.key) part.needed = count(need.node, field_of(table, "need." + need.key));
        if (part.needed > part.copies)
            add(member.place, field, fmt::format("{} of {} copies cannot work", part.needed, part.copies),
                "need at most as many as there are");
        one.members.push_back(part);
    }
    for (const Member& need : needs) {
        const auto& of = table["of"].members;
        if (std::none_of(of.begin(), of.end(), [&](const Member& member) { return member.key == need.key; }))
            add(need.place, field_of(table, "need." + need.key.substr(0, 100)), "is no member of the level",
                "a name of `of`");
    }
    if (!new_name(one.name, table["name"].place, field_of(table, "name")) || findings_.size() > before) return;
    chain_.levels.push_back(std::move(one));
}

}  // namespace windtunnel::input
