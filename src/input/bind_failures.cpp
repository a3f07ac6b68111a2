#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "binders.hpp"
#include "windtunnel/base/nearest.hpp"

namespace windtunnel::input {
namespace {

using model::CountPer;
using model::Effect;
using Lost = model::RecoveryRung::Lost;

void add(const Values& values, const char* path, std::string message, std::string expected, Findings& findings) {
    const Value& value = values[path];
    findings.push_back(finding_at(value.given ? value.place : values.place, field_of(values, path), std::move(message),
                                  std::move(expected)));
}

void check_name(const Values& values, std::set<std::string>& names, Findings& findings) {
    if (!values["name"].bad && !names.insert(values.text("name")).second)
        add(values, "name", fmt::format("\"{}\" is used twice", values.text("name")), "a name of its own", findings);
}

model::ComponentClass bind_component(const Values& values, Findings& findings) {
    model::ComponentClass component;
    component.name = values.text("name");
    component.count_per = enum_of<CountPer>(
        values.text("count_per"),
        {{"card", CountPer::card}, {"node", CountPer::node}, {"switch", CountPer::switch_}, {"job", CountPer::job}});
    component.count_multiple = values.number("count_multiple");
    component.up = values["up"].law;
    component.repair = values["repair"].law;
    component.effect = enum_of<Effect>(
        values.text("effect"),
        {{"stops", Effect::stops}, {"slows", Effect::slows}, {"corrupts", Effect::corrupts}, {"none", Effect::none}});
    component.slow_factor = values.number("slow_factor");
    component.takes_node = values.flag("takes_node");
    if (values.given("detection")) component.detection = values["detection"].law;
    component.source = values["up"].source;
    if (component.effect != Effect::slows && values.given("slow_factor"))
        add(values, "slow_factor", "has no meaning with this effect", "effect = \"slows\"", findings);
    return component;
}

model::FailureVariant bind_variant(const Values& values) {
    model::FailureVariant variant;
    variant.name = values.text("name");
    variant.up = values["up"].law;
    variant.scales_with_nodes = values.flag("scales_with_nodes");
    variant.reference_nodes = values.integer("reference_nodes");
    variant.repair = values["repair"].law;
    variant.takes_node = values.flag("takes_node");
    variant.source = values["up"].source;
    return variant;
}

model::RecoveryRung bind_rung(const Values& values, const model::Failures& failures, Findings& findings) {
    model::RecoveryRung rung;
    rung.action = values.text("action");
    rung.success = values.number("success");
    rung.time = values["time"].law;
    if (values.given("limit")) rung.limit = Seconds{values.number("limit")};
    rung.lost = enum_of<Lost>(
        values.text("lost"),
        {{"nothing", Lost::nothing}, {"one_step", Lost::one_step}, {"since_checkpoint", Lost::since_checkpoint}});
    rung.covers = values["covers"].texts;
    rung.needs_spare = values.flag("needs_spare");
    std::vector<std::string> names;
    for (const auto& component : failures.components) names.push_back(component.name);
    for (const auto& variant : failures.variants) names.push_back(variant.name);
    for (const std::string& name : rung.covers)
        if (std::find(names.begin(), names.end(), name) == names.end())
            add(values, "covers", fmt::format("\"{}\" is no component of the failures", name),
                names.empty() ? "failures with components" : "nearest: " + base::nearest_name(name, names), findings);
    return rung;
}

}  // namespace

model::Failures bind_failures(const Values& values, Findings& findings) {
    model::Failures failures;
    if (values["component"].given && values["variant"].given)
        add(values, "variant", "stands together with component", "one of the two", findings);
    std::set<std::string> names;
    for (const Values& table : values["component"].tables) {
        check_name(table, names, findings);
        failures.components.push_back(bind_component(table, findings));
    }
    for (const Values& table : values["variant"].tables) {
        check_name(table, names, findings);
        failures.variants.push_back(bind_variant(table));
    }
    return failures;
}

model::Recovery bind_recovery(const Values& plan, const model::Failures& failures, Findings& findings) {
    model::Recovery recovery;
    const Values values = plan.below("recovery");
    if (values["checkpoint_interval"].text != "optimal")
        recovery.checkpoint_interval = Seconds{values.number("checkpoint_interval")};
    if (values.given("checkpoint_write")) recovery.checkpoint_write = Seconds{values.number("checkpoint_write")};
    recovery.checkpoint_bandwidth = BytesPerSecond{values.number("checkpoint_bandwidth")};
    if (values.given("restart")) {
        recovery.restart = values["restart"].law;
        recovery.restart_assumed = values["restart"].basis == "assumed";
    }
    if (values.given("detection")) recovery.detection = values["detection"].law;
    recovery.checkpoint_background = Seconds{values.number("checkpoint_background")};
    if (recovery.checkpoint_interval && recovery.checkpoint_background >= *recovery.checkpoint_interval)
        add(values, "checkpoint_background", "is not shorter than the interval: checkpoints would pile up",
            "less than recovery.checkpoint_interval", findings);
    recovery.ageing = enum_of<model::Ageing>(
        values.text("ageing"), {{"always", model::Ageing::always}, {"while_running", model::Ageing::while_running}});
    recovery.fleet = enum_of<model::FleetAge>(
        values.text("fleet"), {{"new", model::FleetAge::new_}, {"stationary", model::FleetAge::stationary}});
    if (values.given("spare_nodes")) recovery.spare_nodes = values.integer("spare_nodes");
    for (const Values& table : values["ladder"].tables) recovery.ladder.push_back(bind_rung(table, failures, findings));
    return recovery;
}

}  // namespace windtunnel::input
