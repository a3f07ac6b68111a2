#include "windtunnel/report/plan_summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "windtunnel/report/plan_notes.hpp"
#include "windtunnel/report/text_table.hpp"
#include "windtunnel/report/units.hpp"

namespace windtunnel::report {
namespace {

using Json = nlohmann::ordered_json;
using train::ChunkLoad;

std::string chunk_text(const ChunkLoad& chunk) {
    std::vector<std::string> parts;
    if (chunk.embedding) parts.emplace_back("embedding");
    if (chunk.dense_layers > 0) parts.push_back(fmt::format("{} dense", chunk.dense_layers));
    if (chunk.moe_layers > 0) parts.push_back(fmt::format("{} moe", chunk.moe_layers));
    if (chunk.mtp_layers > 0) parts.push_back(fmt::format("{} mtp", chunk.mtp_layers));
    if (chunk.head) parts.emplace_back("head");
    return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, " + "));
}

template <class Value>
std::string axis_text(const model::Axis<Value>& axis) {
    if (axis.any) return "any";
    constexpr std::size_t most = 8;
    if (axis.values.size() > most)
        return fmt::format("{} values from {} to {}", axis.values.size(), axis.values.front(), axis.values.back());
    return fmt::format("{}", fmt::join(axis.values, ", "));
}

template <class Value>
std::string named_axis_text(const model::Axis<Value>& axis) {
    if (axis.any) return "any";
    std::vector<std::string> names;
    for (const Value value : axis.values) names.push_back(model::to_text(value));
    return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<std::pair<std::string, std::string>> axes_of(const model::LayoutSpace& space) {
    return {{"cards", axis_text(space.cards)},
            {"tensor_parallel", axis_text(space.tensor_parallel)},
            {"pipeline_parallel", axis_text(space.pipeline_parallel)},
            {"virtual_pipeline", axis_text(space.virtual_pipeline)},
            {"context_parallel", axis_text(space.context_parallel)},
            {"expert_parallel", axis_text(space.expert_parallel)},
            {"expert_tensor_parallel", axis_text(space.expert_tensor_parallel)},
            {"micro_batch_size", axis_text(space.micro_batch_size)},
            {"global_batch_size", axis_text(space.global_batch_size)},
            {"recompute", named_axis_text(space.recompute)},
            {"pipeline_schedule", named_axis_text(space.schedule)},
            {"optimizer_sharding", axis_text(space.optimizer_sharding)}};
}

Json groups_json(const model::Layout& layout) {
    return {{"cards", layout.cards},
            {"tp", layout.tensor_parallel},
            {"cp", layout.context_parallel},
            {"dp", layout.data_parallel()},
            {"pp", layout.pipeline_parallel},
            {"vpp", layout.virtual_pipeline},
            {"etp", layout.expert_tensor_parallel},
            {"ep", layout.expert_parallel},
            {"edp", layout.expert_data_parallel()},
            {"micro_batch_size", layout.micro_batch_size},
            {"global_batch_size", layout.global_batch_size},
            {"num_micro_batches", layout.num_micro_batches()}};
}

}  // namespace

std::string groups_text(const model::Transformer& transformer, const model::Layout& layout) {
    std::string text =
        fmt::format("tp {} x cp {} x dp {} x pp {} = {} cards", layout.tensor_parallel, layout.context_parallel,
                    layout.data_parallel(), layout.pipeline_parallel, grouped(layout.cards));
    if (transformer.experts)
        text += fmt::format("; etp {} x ep {} x edp {} x pp {} = {} cards", layout.expert_tensor_parallel,
                            layout.expert_parallel, layout.expert_data_parallel(), layout.pipeline_parallel,
                            grouped(std::int64_t{layout.expert_tensor_parallel} * layout.expert_parallel *
                                    layout.expert_data_parallel() * layout.pipeline_parallel));
    return text;
}

std::string split_text(const std::vector<ChunkLoad>& split, int pipeline_parallel, model::PipelineSchedule schedule) {
    std::string text;
    const auto name = [pipeline_parallel, schedule, &split](std::size_t i) {
        const auto width = static_cast<std::size_t>(pipeline_parallel);
        if (schedule == model::PipelineSchedule::dualpipe)
            return fmt::format("stage {} (on ranks {} and {})", i, i, width - 1 - i);
        const bool turns = model::is_v_shaped(schedule) && i >= width;  // chunk 1 comes back from the last rank
        return split.size() > width
                   ? fmt::format("chunk {} of stage {}", i / width, turns ? 2 * width - 1 - i : i % width)
                   : fmt::format("stage {}", i);
    };
    for (std::size_t first = 0; first < split.size();) {
        std::size_t last = first;
        const std::string load = chunk_text(split[first]);
        while (last + 1 < split.size() && chunk_text(split[last + 1]) == load) ++last;
        text += first == last ? fmt::format("  {}: {}\n", name(first), load)
                              : fmt::format("  {} to {}: {}\n", name(first), name(last), load);
        first = last + 1;
    }
    return text;
}

std::string plan_text(const model::Plan& plan, const PlanFacts& facts) {
    const model::Transformer& transformer = plan.transformer;
    const model::ParameterCount parameters = model::parameter_count(transformer);
    std::string text = fmt::format("{}\n", plan.title);
    text += fmt::format("model    {}: {} parameters, {} activated per token, {} layers ({} with experts)\n",
                        transformer.name, human_count(static_cast<double>(parameters.total())),
                        human_count(static_cast<double>(parameters.activated())), transformer.num_layers,
                        transformer.num_moe_layers());
    text += fmt::format("cluster  {}: {} nodes x {} {} = {} cards, {} each\n", plan.cluster.id,
                        grouped(plan.cluster.num_nodes), plan.cluster.cards_per_node(), plan.cluster.accelerator.id,
                        grouped(plan.cluster.num_cards()), human(plan.cluster.accelerator.memory));
    if (plan.cluster.reserved_nodes > 0)
        text += fmt::format("spares   {} more nodes that no layout uses\n", grouped(plan.cluster.reserved_nodes));
    if (facts.layout) {
        text += fmt::format("layout   {}\ngroups   {}\n", model::to_text(*facts.layout),
                            groups_text(transformer, *facts.layout));
        if (!facts.rules.feasible())
            text += fmt::format("verdict  {}: {}\n", model::to_text(facts.rules.reason), facts.rules.detail);
        if (!facts.split.empty())
            text += "split\n" + split_text(facts.split, facts.layout->pipeline_parallel, facts.layout->schedule);
    }
    if (plan.training) {
        text += fmt::format("space    {} designs\n", grouped(static_cast<std::int64_t>(facts.num_designs)));
        for (const auto& [axis, values] : axes_of(plan.training->layout))
            text += fmt::format("  {:<23}{}\n", axis, values);
    }
    if (!plan.failures.empty()) {
        if (!plan.failures.variants.empty()) {
            std::vector<std::string> names;
            for (const auto& variant : plan.failures.variants) names.push_back(variant.name);
            text += fmt::format("failures {} variants of the whole job: {}\n", names.size(), fmt::join(names, ", "));
        } else {
            text += fmt::format("failures {} component classes\n", plan.failures.components.size());
        }
    }
    if (!facts.work.empty()) {
        TextTable lines{{"command", "work", "time here", "result file"}};
        for (const WorkEstimate& work : facts.work)
            lines.add_row({work.command, work.items, work.time ? "about " + human(*work.time) : "after the first round",
                           "about " + human(work.result_file)});
        text += "runs\n" + lines.text();
    }
    return text + plan_notes(plan);
}

std::string plan_json(const model::Plan& plan, const PlanFacts& facts) {
    const model::ParameterCount parameters = model::parameter_count(plan.transformer);
    Json document{{"title", plan.title},
                  {"model",
                   {{"name", plan.transformer.name},
                    {"parameters", parameters.total()},
                    {"activated_parameters", parameters.activated()},
                    {"layers", plan.transformer.num_layers},
                    {"moe_layers", plan.transformer.num_moe_layers()}}},
                  {"cluster",
                   {{"id", plan.cluster.id},
                    {"nodes", plan.cluster.num_nodes},
                    {"cards", plan.cluster.num_cards()},
                    {"spare_nodes", plan.cluster.reserved_nodes},
                    {"accelerator", plan.cluster.accelerator.id},
                    {"memory_bytes", plan.cluster.accelerator.memory.value()}}}};
    if (facts.layout) {
        document["layout"] = groups_json(*facts.layout);
        document["verdict"] = {{"reason", model::to_text(facts.rules.reason)}, {"detail", facts.rules.detail}};
        Json split = Json::array();
        for (const ChunkLoad& chunk : facts.split)
            split.push_back({{"dense_layers", chunk.dense_layers},
                             {"moe_layers", chunk.moe_layers},
                             {"mtp_layers", chunk.mtp_layers},
                             {"embedding", chunk.embedding},
                             {"head", chunk.head}});
        document["split"] = split;
    }
    if (plan.training) {
        Json space = Json::object();
        for (const auto& [axis, values] : axes_of(plan.training->layout)) space[axis] = values;
        document["space"] = space;
        document["num_designs"] = facts.num_designs;
    }
    Json work = Json::array();
    for (const WorkEstimate& item : facts.work)
        work.push_back({{"command", item.command},
                        {"items", item.items},
                        {"time_s", item.time ? Json(item.time->value()) : Json(nullptr)},
                        {"result_file_bytes", item.result_file.value()}});
    document["runs"] = work;
    document["implicit_defaults"] = plan.implicit_defaults;
    document["assumptions"] = plan.assumptions;
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace windtunnel::report
