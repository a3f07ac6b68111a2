#include <algorithm>
#include <cmath>

#include "windtunnel/validate/serve_rows.hpp"

namespace windtunnel::validate {
namespace {

using model::ServeRow;

/// Tokens per step where the source prints an acceptance: "1 draft token, 70 % accepted" and "accept 1.8 to 1.9".
void fill_speculation(const ServeRow& row, serve::EngineSetup& setup) {
    std::string text = row.text("mtp");
    if (text.starts_with("as CM-02") || text.find("1.7 tokens/step") != std::string::npos)
        setup.speculation = {1, 1.7};
    else if (text.starts_with("1 step, 1 draft"))
        setup.speculation = {1, 1.85};
    else if (text.starts_with("3-1-4"))
        setup.speculation = {3, 3.1};
}

}  // namespace

/// Prefill of 16 K tokens a card at once, decode of the printed batch. On 910C a chip is a package of two dies, and the
/// degrees count dies.
void fill_point(const ServeRow& row, ServeJob& job) {
    // The same measurement under a second and third name counts once; means over a day are no capacity.
    const bool quoted = row.id == "DS-01" || row.id == "DS-02" || row.id == "CM-13" || row.id == "CM-14" ||
                        row.id == "IS-01" || row.id == "IS-02";
    job.family = "points/" + (quoted ? "quoted" : job.setup.accelerator.id);
    const std::string& phase = row.text("phase");
    const bool package = job.setup.accelerator.id == "Ascend-910C";
    const double dies = package ? 2.0 : 1.0;
    if (package) {
        job.setup.accelerator.memory = job.setup.accelerator.memory / 2.0;
        job.setup.accelerator.memory_bandwidth = job.setup.accelerator.memory_bandwidth / 2.0;
        job.setup.accelerator.scale_up.bandwidth = job.setup.accelerator.scale_up.bandwidth / 2.0;
        job.setup.accelerator.scale_out.bandwidth = job.setup.accelerator.scale_out.bandwidth / 2.0;
        job.setup.accelerator.scale_up_domain *= 2;
        for (FlopsPerSecond& peak : job.setup.accelerator.matrix_peak) peak = peak / 2.0;
    }
    const int ep = row.integer("ep", 0), tp = row.integer("tp", 1);
    const bool moe = job.setup.transformer.experts.has_value();
    const bool overlap = std::any_of(row.cells.begin(), row.cells.end(), [](const auto& cell) {
        return cell.first.find("_gain_pct.b") != std::string::npos;
    });
    if (overlap) {  // on against off, at the layout of the same source's decode point
        job.per_chip = dies;
        const int ranks = package ? 320 : row.integer("ep", 72);
        job.setup.layout = {1, 1, ranks, ranks, 1, package ? 64 : 32};
        job.loop.prompt = package ? 4096.0 + 128.0 : 2048.0;
        if (package) job.setup.speculation = {1, 1.7};
        (void)model::engine_numbers_of(package ? "int8" : "fp8", job.setup.numbers);
        job.assumed.emplace_back("layout, lengths and numbers of the decode point of the same source");
        return;
    }
    if (phase != "prefill" && phase != "decode") {
        job.problem = "a " + phase + " point: not described by a step alone";
        return;
    }
    if (moe && ep == 0) {
        job.problem = "the degree of expert parallelism is not printed";
        return;
    }
    job.per_chip = dies;
    model::EngineLayout& layout = job.setup.layout;
    if (moe) {
        layout = {tp, 1, std::max(1, ep / tp), ep, 1, 0};
        // As many slots as give every card the same number of experts.
        const int routed = job.setup.transformer.experts->num_routed;
        layout.redundant_experts = (routed + ep - 1) / ep * ep - routed;
        if (row.text("parallelism").find("EPLB") != std::string::npos ||
            row.text("parallelism").find("72") != std::string::npos)
            layout.redundant_experts = std::max(layout.redundant_experts, 32);
    } else {
        layout.tensor_parallel = tp;
    }
    const double isl = row.number("isl").value_or(row.number("kv_len").value_or(4096.0));
    const double osl = row.number("osl").value_or(0.0);
    if (row.dtype().empty()) {
        (void)model::engine_numbers_of(package ? "int8" : "fp8", job.setup.numbers);
        job.assumed.emplace_back("numbers of the checkpoint: 8 bit");
    }
    const auto kv = row.number("kv_len");
    fill_speculation(row, job.setup);
    if (phase == "decode") {
        const auto batch = row.number("batch_per_chip");
        if (!batch) {
            job.problem = "the batch of a card is not printed";
            return;
        }
        job.decode_step = true;
        const double context = kv ? *kv : isl + 0.5 * osl;
        job.step.decode_sequences = job.step.outputs = *batch / dies;
        job.step.decode_context = job.step.decode_sequences * context;
        job.setup.two_batch_overlap = row.integer("chips", 1) > 16 || ep > 32;
    } else {
        job.prefill_step = true;
        const std::string& about = row.text("note") + row.text("parallelism");
        job.natural_skew =
            moe && about.find("erfect") == std::string::npos && about.find("balanced") == std::string::npos;
        const double prompts = std::max(1.0, std::floor(16384.0 / dies / isl));
        job.step.prefill_sequences = job.step.outputs = prompts;
        job.step.prefill_tokens = prompts * isl;
        job.step.prefill_pairs = prompts * 0.5 * isl * (isl + 1.0);
        job.setup.two_batch_overlap = moe;
    }
}

}  // namespace windtunnel::validate
