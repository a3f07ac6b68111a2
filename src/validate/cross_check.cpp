#include "cross_check.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "windtunnel/train/step.hpp"

namespace windtunnel::validate {
namespace {

using model::CrossCheck;

/// The other tool's card: its efficiencies, and nothing that it does not have (launches, hidden shares, a fixed part).
train::Job job_of(const CrossCheck& check, const model::CrossCheckSystem& system) {
    train::Job job;
    model::Accelerator& card = job.cluster.accelerator;
    const bool narrow = check.dtype == "float8";
    job.precision = narrow ? model::Precision::fp8 : model::Precision::fp16;
    for (const auto& [precision, dtype] :
         {std::pair{model::Precision::fp16, "float16"}, std::pair{model::Precision::bf16, "float16"},
          std::pair{model::Precision::fp8, "float8"}})
        if (const auto found = system.teraflops.find(dtype); found != system.teraflops.end())
            card.matrix_peak[static_cast<std::size_t>(precision)] = FlopsPerSecond{found->second * base::tera};
    card.memory_bandwidth = BytesPerSecond{system.memory_gb_per_s * base::giga};
    card.scale_up.bandwidth = BytesPerSecond{system.scale_up_gb_per_s * base::giga};
    card.scale_out.bandwidth = BytesPerSecond{system.scale_out_gb_per_s * base::giga};
    card.scale_up_domain = card.cards_per_node = system.scale_up_cards;
    job.cluster.num_nodes = (check.cards - 1) / system.scale_up_cards + 1;
    model::Efficiency& e = job.efficiency;
    e.gemm = e.attention = system.matrix_efficiency;
    e.gemm_half_size = 0.0;
    e.memory = system.memory_efficiency;
    e.scale_up = system.scale_up_efficiency;
    e.scale_out = system.scale_out_efficiency;
    e.scale_up_hidden = e.scale_out_hidden = 0.0;
    e.low_precision_cast = 0.0;
    e.kernel_launch = e.fixed_per_step = Seconds{0.0};
    job.gradient_precision = model::Precision::fp16;
    job.flash_attention = false;
    job.sequence_length = check.sequence;
    model::Transformer& model = job.transformer;
    model.num_layers = model.num_dense_layers = check.blocks;
    model.hidden = check.hidden;
    model.ffn = check.feedforward;
    model.vocabulary = 1;  // the other tool has neither embedding nor head
    model.activation = model::Activation::gelu;
    model.tied_embeddings = model.biases = true;
    model.attention.num_heads = check.heads;
    model.attention.num_kv_heads = check.multiquery ? 1 : check.heads;
    model.attention.head_dim = check.head_size;
    model.attention.kind = check.multiquery ? model::AttentionKind::mqa : model::AttentionKind::mha;
    return job;
}

model::Layout layout_of(const CrossCheck& check) {
    model::Layout layout;
    layout.cards = check.cards;
    layout.tensor_parallel = check.tp;
    layout.pipeline_parallel = check.pp;
    layout.virtual_pipeline = check.vpp;
    layout.micro_batch_size = check.mbs;
    layout.global_batch_size = check.gbs;
    layout.recompute = check.recompute == "full"        ? model::Recompute::full
                       : check.recompute == "selective" ? model::Recompute::selective
                                                        : model::Recompute::none;
    layout.schedule = check.vpp > 1 ? model::PipelineSchedule::interleaved : model::PipelineSchedule::one_f_one_b;
    layout.optimizer_sharding = check.sharded ? 1 : 0;
    layout.sequence_parallel = check.sequence_parallel;
    return layout;
}

std::map<std::string, double> parts_of(const CrossCheck& check, const model::CrossCheckSystem& system) {
    const train::Job job = job_of(check, system);
    const model::Layout layout = layout_of(check);
    const train::UnitCosts costs = train::unit_costs(job, train::unit_key(layout));
    const train::StepResult step = train::step_result(job, layout, costs);
    const train::BlockCost& block = costs.dense_layer;
    const double blocks = double(check.blocks) / check.pp, passes = blocks * double(layout.num_micro_batches());
    const auto compute = [](const train::PartTimes& parts) {
        using enum train::Part;
        return (parts[gemm] + parts[attention] + parts[memory_bound]).value();
    };
    const double weights = 2.0 * block.parameters * blocks;
    return {{"block_forward_flops", block.model_flops.value() / 3.0},
            {"weights", weights},
            {"weight_gradients", weights},
            {"optimizer", 6.0 * weights / (check.sharded ? layout.data_parallel() : 1)},
            {"block_activations", block.activations.value()},
            {"forward", compute(block.forward) * passes},
            {"backward", (compute(block.backward_input) + compute(block.backward_weight)) * passes},
            {"tensor_parallel", step.parts[train::Part::tp_comm].value()},
            {"bubble", step.parts[train::Part::bubble].value()},
            {"step", step.step_time.value()}};
}

/// What the two do differently; shown with the part.
const std::map<std::string, std::string>& reasons() {
    static const std::map<std::string, std::string> all{
        {"block_forward_flops", "here causal attention is half of the square, and vector operators count as bytes"},
        {"weight_gradients",
         "there one block more, of the gradient in work, and a sharded optimizer shares out the gradients too"},
        {"weights", "8-bit weights there, 16-bit copies here"},
        {"block_activations",
         "full recompute with sequence parallelism keeps a shard here and the whole input there; there fused "
         "activations hold less and 8-bit ones half; without sequence parallelism 11 sbh there, 13 by Korthikanti's "
         "form here"},
        {"forward", "there the time of bytes is added to that of FLOPs for each operator, here the larger counts"},
        {"backward", "as forward; here the gradient also joins its buffer in memory"},
        {"tensor_parallel",
         "there a collective moves whole messages, here (n - 1) / n of them; and inputs gathered again count there, "
         "while here they lie under the product of the input gradient"},
        {"bubble", "follows the times of forward and backward, and transfers between stages count here"},
        {"step", "the sum of the parts above"}};
    return all;
}

}  // namespace

void cross_check_figures(const model::CrossChecks& checks, std::vector<Figure>& figures) {
    std::map<std::string, std::vector<double>> differences;
    std::map<std::string, int> left_out;
    for (const CrossCheck& check : checks.configurations) {
        if (!check.not_compared.empty()) {
            ++left_out[check.not_compared];
            continue;
        }
        const auto ours = parts_of(check, checks.systems.at(check.system));
        for (const auto& [part, theirs] : check.parts)
            if (theirs > 0.0 && ours.contains(part))
                differences[part].push_back(std::abs(ours.at(part) / theirs - 1.0));
    }
    Figure figure;
    figure.table = "cross-check with Calculon";
    const auto put = [&](const std::string& measure, double value, int count) {
        figure.measure = measure;
        figure.value = value;
        figure.count = count;
        figures.push_back(figure);
    };
    for (const auto& [part, errors] : differences) {
        const ErrorSummary summary = error_summary(errors);
        const auto reason = reasons().find(part);
        figure.name = part;
        if (summary.worst > 0.1 && reason != reasons().end()) figure.name += " (" + reason->second + ")";
        const auto inside = std::count_if(errors.begin(), errors.end(), [](double error) { return error <= 0.1; });
        put("median", summary.median, summary.count);
        put("worst", summary.worst, summary.count);
        put("within 10 %", double(inside) / summary.count, summary.count);
    }
    for (const auto& [reason, count] : left_out) {
        figure.name = "not compared: " + reason;
        put("rows", count, count);
    }
}

}  // namespace windtunnel::validate
