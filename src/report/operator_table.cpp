#include "windtunnel/report/operator_table.hpp"

#include <fmt/format.h>

#include "windtunnel/report/json_parts.hpp"

namespace windtunnel::report {
namespace {

using train::StageOperator;

std::string precision_text(model::Precision precision) {
    constexpr std::array words{"fp32", "tf32", "fp16", "bf16", "fp8", "mxfp8", "nvfp4", "int8"};
    return words[static_cast<std::size_t>(precision)];
}

/// Columns in order; texts are words without commas or quotes.
Json row_of(const StageOperator& of) {
    const train::Operator& one = of.one;
    return {{"stage", of.stage},
            {"block", of.block},
            {"blocks", of.blocks},
            {"runs", of.runs},
            {"pass", train::to_text(one.pass)},
            {"operator", one.name},
            {"kind", train::to_text(one.kind)},
            {"unit", train::to_text(one.unit)},
            {"groups", one.shape[0]},
            {"m", one.shape[1]},
            {"n", one.shape[2]},
            {"k", one.shape[3]},
            {"precision", precision_text(one.precision)},
            {"flops", one.flops.value()},
            {"bytes", one.bytes.value()},
            {"collective", train::to_text(one.collective)},
            {"group", train::to_text(one.group)},
            {"group_size", one.group_size},
            {"message_bytes", one.message.value()},
            {"count", one.count},
            {"kernels", one.kernels},
            {"time_s", one.time.value()},
            {"hidden_s", one.hidden.value()},
            {"launch_s", one.launch.value()},
            {"bound", train::to_text(one.bound)},
            {"part", train::to_text(one.part)},
            {"kept_bytes", one.kept.value()},
            {"parameters", one.parameters + one.expert_parameters}};
}

}  // namespace

std::string operators_csv(const std::vector<StageOperator>& operators) {
    std::string text;
    for (const StageOperator& of : operators) {
        const Json row = row_of(of);
        if (text.empty()) {
            for (const auto& [key, value] : row.items()) text += (text.empty() ? "" : ",") + key;
            text += '\n';
        }
        std::string line;
        for (const auto& [key, value] : row.items()) {
            if (!line.empty()) line += ',';
            line += value.is_string() ? value.get<std::string>() : value.dump();
        }
        text += line + '\n';
    }
    return text;
}

std::string operators_json(const std::vector<StageOperator>& operators) {
    Json rows = Json::array();
    for (const StageOperator& of : operators) rows.push_back(row_of(of));
    const Json file{{"operators", rows}};
    return file.dump(1) + "\n";
}

}  // namespace windtunnel::report
