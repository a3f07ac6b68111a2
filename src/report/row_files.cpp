#include "windtunnel/report/row_files.hpp"

#include <fmt/format.h>

#include <array>
#include <sstream>

#include "windtunnel/report/model_file.hpp"

namespace windtunnel::report {
namespace {

std::string word_of(model::Precision precision) {
    constexpr std::array words{"fp32", "tf32", "fp16", "bf16", "fp8", "mxfp8", "nvfp4", "int8"};
    return words.at(static_cast<std::size_t>(precision));
}

/// A copy of the card's file. The plan names the calibration: the paths in the card's file do not lead there from here.
std::string card_text(const std::string& accelerator) {
    std::istringstream lines{accelerator};
    std::string text, line;
    while (std::getline(lines, line))
        if (!line.starts_with("calibration")) text += line + '\n';
    return text;
}

std::string cluster_text(const model::Cluster& cluster, const std::string& source) {
    const model::Accelerator& card = cluster.accelerator;
    return fmt::format(
        "source = {}\nid = {}\naccelerator = \"accelerator.toml\"\nnodes = {}\ncards_per_node = {}\n\n"
        "[scale_out]\nbandwidth = \"{} B/s\"\n",
        source, toml_text(cluster.id), cluster.num_nodes, card.cards_per_node, card.scale_out.bandwidth.value());
}

std::string split_text(const model::PipelineSplit& split) {
    const std::string text = model::to_text(split);
    return split.kind == model::SplitKind::explicit_chunks ? text : '"' + text + '"';
}

std::string layout_text(const model::Layout& layout) {
    return fmt::format(
        "\n[train.published]\ncards = {}\ntensor_parallel = {}\npipeline_parallel = {}\nvirtual_pipeline = {}\n"
        "pipeline_split = {}\ncontext_parallel = {}\nexpert_parallel = {}\nexpert_tensor_parallel = {}\n"
        "micro_batch_size = {}\nglobal_batch_size = {}\nrecompute = \"{}\"\npipeline_schedule = \"{}\"\n"
        "optimizer_sharding = {}\nsequence_parallel = {}\n",
        layout.cards, layout.tensor_parallel, layout.pipeline_parallel, layout.virtual_pipeline,
        split_text(layout.split), layout.context_parallel, layout.expert_parallel, layout.expert_tensor_parallel,
        layout.micro_batch_size, layout.global_batch_size, model::to_text(layout.recompute),
        model::to_text(layout.schedule), layout.optimizer_sharding, layout.sequence_parallel);
}

std::string plan_text(const model::PublishedRow& row, const validate::RowJob& row_job, bool has_calibration) {
    const train::Job& job = row_job.job;
    std::string text = fmt::format("[plan]\ntitle = {}\nmodel = \"model.toml\"\ncluster = \"cluster.toml\"\n",
                                   toml_text(fmt::format("published row {} of {}", row.id, row.file)));
    for (const std::string& field : row_job.assumed) text += fmt::format("# not printed, assumed: {}\n", field);
    if (has_calibration) {
        text += "\n[calibration]\nfile = \"calibration.toml\"\n";
        if (!job.efficiency.releases.empty())
            text += fmt::format("release = {}\n",
                                toml_text(job.efficiency.release.empty() ? "average" : job.efficiency.release));
    }
    text += fmt::format(
        "\n[train]\nsequence_length = {}\nglobal_batch_size = {}\nprecision = \"{}\"\ngradient_precision = \"{}\"\n"
        "activation_precision = \"{}\"\nflash_attention = {}\nfused_operators = {}\n",
        job.sequence_length, row_job.layout.global_batch_size, word_of(job.precision), word_of(job.gradient_precision),
        word_of(job.activation_precision), job.flash_attention, job.fused_operators);
    return text + layout_text(row_job.layout);
}

}  // namespace

std::vector<NamedText> row_files(const model::PublishedRow& row, const validate::RowJob& job,
                                 const std::string& accelerator, const std::string& calibration) {
    const std::string printed = fmt::format("{}, row {}", row.file, row.id);
    const std::string source = printed + (row.source.empty() ? "" : ": " + row.source);
    std::vector<NamedText> files{{"plan.toml", plan_text(row, job, !calibration.empty())},
                                 {"model.toml", model_toml(job.job.transformer, source)},
                                 {"cluster.toml", cluster_text(job.job.cluster, toml_text(source))},
                                 {"accelerator.toml", card_text(accelerator)}};
    if (!calibration.empty()) files.push_back({"calibration.toml", calibration});
    return files;
}

}  // namespace windtunnel::report
