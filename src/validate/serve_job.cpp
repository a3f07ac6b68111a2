#include <algorithm>
#include <cmath>

#include "windtunnel/serve/kv_size.hpp"
#include "windtunnel/validate/serve_rows.hpp"

namespace windtunnel::validate {
namespace {

using model::ServeMeasurements;
using model::ServeRow;
using model::ServeTable;

/// Degrees of one instance as the collection writes them: tp, attention dp, and the two degrees of experts.
struct Degrees {
    int tp = 1, dp = 1, moe_tp = 1, moe_ep = 1;
};

Degrees degrees_of(const ServeRow& row, const std::string& role) {
    return {row.integer(role + "tp", 1), row.integer(role + "attn_dp", 1), row.integer(role + "moe_tp", 1),
            row.integer(role + "moe_ep", 1)};
}

/// tp 64 with experts 8 x 8 is 8 cards whose degrees were multiplied; tp 4 with dp 4 and ep 16 is 4 cards with
/// attention data parallelism. Pairs of rows with the same figures under both spellings show it.
model::EngineLayout layout_of(Degrees d, bool has_experts) {
    model::EngineLayout layout;
    const bool squared = d.moe_tp == d.moe_ep && d.moe_tp >= 4 && d.tp * d.dp == d.moe_tp * d.moe_ep;
    if (squared) {
        const int cards = d.moe_tp;
        d = d.dp > 1 ? Degrees{1, cards, 1, cards} : Degrees{cards, 1, 1, cards};
    } else if (d.tp == d.dp && d.tp > 1 && d.moe_tp * d.moe_ep == d.tp * d.dp) {
        d = {1, d.tp, 1, d.tp};
    }
    const int cards = std::max(d.tp * d.dp, d.moe_tp * d.moe_ep);
    layout.attention_data_parallel = d.dp;
    layout.tensor_parallel = std::max(1, cards / d.dp);
    if (has_experts) {
        layout.expert_parallel = std::min(d.moe_ep, cards);
        layout.expert_tensor_parallel = std::max(1, cards / layout.expert_parallel);
    }
    return layout;
}

bool is_blackwell(const std::string& accelerator) {
    return accelerator.starts_with("B2") || accelerator.starts_with("B3") || accelerator.starts_with("GB") ||
           accelerator.starts_with("RTX-PRO");
}

/// Numbers of a checkpoint under the name that the row uses: FP4 of gpt-oss and INT4 of Kimi are experts alone; NVFP4
/// of DeepSeek leaves attention in 16 bit; engines keep an 8 bit cache on Blackwell, TensorRT-LLM on Hopper too.
bool numbers_of(const ServeRow& row, const std::string& accelerator, model::EngineNumbers& numbers) {
    std::string name = row.dtype();
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (row.table == ServeTable::step) {
        const std::string& quant = row.text("linear_quant");
        name = quant.starts_with("W8A8") ? "int8" : quant.starts_with("W4A8") ? "w4a8" : "bf16";
        if (row.text("attention_quant") == "INT8") name += "+kv8";
    }
    if (name.empty() || name.starts_with("fp8 gemm")) name = name.empty() ? "bf16" : "fp8";
    if (name == "w8a8") name = "int8";
    const std::string& of_model = row.model_name();
    if (of_model.starts_with("gpt-oss")) {
        model::EngineNumbers experts;
        (void)model::engine_numbers_of("w4a16", experts);
        numbers = {};
        numbers.experts = experts.dense;
        if (is_blackwell(accelerator)) numbers.experts.compute = model::Precision::fp8;
        return true;
    }
    if (!model::engine_numbers_of(name, numbers)) return false;
    const model::WeightFormat wide{2.0, model::Precision::bf16};
    if (name == "int4" || name == "w4a8")
        numbers.dense = name == "int4" ? wide : model::WeightFormat{1.0, model::Precision::int8};
    if ((name == "fp4" || name == "nvfp4") &&
        (of_model.starts_with("DeepSeek") || of_model.starts_with("Kimi") || of_model.starts_with("GLM")))
        numbers.dense = {1.0, model::Precision::fp8};
    const bool narrow = name == "fp8" || name == "fp4";
    if (narrow && (is_blackwell(accelerator) || row.engine() == "trtllm" || row.table == ServeTable::offline))
        numbers.kv_bytes = 1.0;
    return true;
}

/// Runs of the collection with round lengths of 1000s are not drawn; the others are, from 0.8 L to L.
bool lengths_are_drawn(const ServeRow& row) {
    const int isl = row.integer("isl", 0), osl = row.integer("osl", 0);
    return (isl == 1024 || isl == 8192) && (osl == 1024 || osl == 8192);
}

/// Tokens whose cache fits. TensorRT-LLM takes nine tenths of what weights and activations leave, vLLM and SGLang nine
/// tenths of the card less these.
double cache_tokens(const serve::EngineSetup& setup, bool of_what_is_left) {
    serve::MemoryUse use;
    if (of_what_is_left) use.utilisation = 0.97;  // context of the driver and the libraries
    const auto blocks =
        serve::num_kv_blocks(setup.transformer, setup.accelerator, setup.layout, setup.numbers, use, 16);
    return 16.0 * static_cast<double>(blocks) * (of_what_is_left ? 0.9 : 1.0);
}

void fill_closed_loop(const ServeRow& row, ServeJob& job) {
    job.drawn_lengths = row.table == ServeTable::silicon && lengths_are_drawn(row);
    const double share = job.drawn_lengths ? 0.9 : 1.0;
    job.loop.prompt = share * row.number("isl").value_or(0.0);
    job.loop.output = std::max(1.0, share * row.number("osl").value_or(1.0));
    const double ranks = job.setup.layout.attention_data_parallel * job.instances;
    job.loop.concurrency = std::max(1.0, row.number("concurrency").value_or(0.0) / ranks);
    // TensorRT-LLM admits a request only with room for all of its output; the others grow and preempt.
    const bool whole = row.engine() == "trtllm" || row.table == ServeTable::offline;
    const double held = job.loop.prompt + (whole ? 1.0 : 0.5) * job.loop.output;
    job.loop.places = std::max(1.0, cache_tokens(job.setup, whole) / held);
}

void fill_silicon(const ServeRow& row, ServeJob& job, const std::string& accelerator, const ServeMeasurements& all) {
    const bool moe = job.setup.transformer.experts.has_value();
    const bool split = row.text("mode") == "disagg";
    job.family = split ? "e2e_silicon/split" : "e2e_silicon/one_pool";
    if (split) {
        if (!row.number("d_workers") || !row.number("p_workers")) {
            job.problem = "no number of workers is printed";
            return;
        }
        job.instances = row.integer("d_workers", 1);
        job.prefill_instances = row.integer("p_workers", 1);
        job.prefill = job.setup;
        job.setup.layout = layout_of(degrees_of(row, "d_"), moe);
        job.prefill.layout = layout_of(degrees_of(row, "p_"), moe);
    } else {
        job.setup.layout = layout_of(degrees_of(row, ""), moe);
    }
    if (!(row.number("concurrency").value_or(0.0) > 0.0)) {
        job.family = "e2e_silicon/set_aside/concurrency";
        job.problem = "concurrency 0";
        return;
    }
    const int tp = row.integer("tp", 1);
    if (!split && tp >= 12 && row.integer("moe_tp", 1) == tp) job.family = "e2e_silicon/set_aside/degree";
    for (const model::SetAside& rule : all.set_aside)
        if (!split && (rule.engine.empty() || rule.engine == row.engine()) &&
            (rule.version.empty() || rule.version == row.text("version")) &&
            (rule.accelerator.empty() || rule.accelerator == accelerator))
            job.family = "e2e_silicon/set_aside/version";
    if (job.family == "e2e_silicon/one_pool") job.family += "/" + row.engine();
    fill_closed_loop(row, job);
    if (split) {
        const double ranks = job.prefill.layout.attention_data_parallel * job.prefill_instances;
        job.prefill_loop = job.loop;
        job.prefill_loop.concurrency = std::max(1.0, row.number("concurrency").value_or(0.0) / ranks);
        job.loop.wave_share = 0.0;
    }
}

void fill_offline(const ServeRow& row, ServeJob& job) {
    job.offline = true;
    job.family = "e2e_trtllm_v1";
    const int tp = row.integer("tp", 1);
    job.setup.layout.tensor_parallel = tp;
    job.setup.layout.pipeline_parallel = row.integer("pp", 1);
    if (row.text("attention_dp_ep") == "yes" && job.setup.transformer.experts) {
        job.setup.layout = {1, row.integer("pp", 1), tp, tp, 1, 0};
    } else if (job.setup.transformer.experts) {
        job.setup.layout.expert_tensor_parallel = tp;
    }
    fill_closed_loop(row, job);
    const double most = row.number("requests").value_or(1e9) / job.setup.layout.attention_data_parallel;
    job.loop.concurrency =
        std::max(1.0, std::min({job.loop.places, most, 2048.0 * job.setup.layout.pipeline_parallel}));
    job.loop.wave_share = 0.0;
}

void fill_static_batch(const ServeRow& row, ServeJob& job) {
    job.static_batch = true;
    job.family = "e2e_argonne";
    job.setup.layout.tensor_parallel = row.integer("chips", 1);
    if (job.setup.transformer.experts) job.setup.layout.expert_tensor_parallel = row.integer("chips", 1);
    fill_closed_loop(row, job);
    job.loop.concurrency = std::max(1.0, row.number("batch").value_or(1.0));
}

/// Blank dp is world / tp; queries are split over the ranks by ceiling.
void fill_step(const ServeRow& row, ServeJob& job, const ServeMeasurements& all) {
    job.family = "ascend_steps";
    const int world = row.integer("world", 1), tp = std::min(world, row.integer("tp", 1));
    const int dp = row.integer("dp", std::max(1, world / tp));
    model::EngineLayout& layout = job.setup.layout;
    layout.tensor_parallel = std::max(1, world / dp);
    layout.attention_data_parallel = dp;
    if (job.setup.transformer.experts) {
        layout.expert_parallel = row.integer("ep", world);
        layout.expert_tensor_parallel = std::max(1, world / layout.expert_parallel);
    }
    const double queries = std::ceil(row.number("queries").value_or(1.0) / dp);
    double tokens = row.number("query_len").value_or(1.0);
    const auto tower = all.vision.find(row.model_name());
    if (const auto height = row.number("image_h"), width = row.number("image_w");
        height && width && tower != all.vision.end()) {
        const model::VisionTower& vision = tower->second;
        const double patches = std::ceil(*height / vision.patch) * std::ceil(*width / vision.patch);
        tokens += patches / 4.0;  // the projector merges 2 x 2 patches
        // Four attention matrices and two of the feed-forward per layer; every patch attends to every other one.
        const double weights = vision.layers * (4.0 * vision.hidden * vision.hidden + 2.0 * vision.hidden * vision.ffn);
        job.vision_products = queries * patches * 2.0 * weights;
        job.vision_attention = queries * patches * patches * 4.0 * vision.hidden * vision.layers;
        job.assumed.emplace_back("vision tower of the published shape, one picture on one card");
    }
    const double context = row.number("context").value_or(0.0);
    if (row.text("phase") == "decode") {
        job.decode_step = true;
        job.setup.speculation.draft_tokens = static_cast<int>(row.number("mtp_tokens").value_or(0.0));
        job.step.decode_sequences = job.step.outputs = queries;
        job.step.decode_context = queries * context;
    } else {
        job.prefill_step = true;
        job.step.prefill_sequences = job.step.outputs = queries;
        job.step.prefill_tokens = queries * tokens;
        job.step.prefill_context = queries * context;
        job.step.prefill_pairs = queries * tokens * (context + 0.5 * (tokens + 1.0));
    }
}

bool in(const std::vector<std::string>& list, const std::string& value) {
    return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

bool rule_matches(const model::EngineRule& rule, const ServeRow& row, const ServeJob& job) {
    return in(rule.files, row.file) && in(rule.engines, row.engine()) &&
           in(rule.accelerators, job.setup.accelerator.id) && in(rule.ids, row.id) &&
           (!rule.moe || *rule.moe == job.setup.transformer.experts.has_value());
}

void fill_point(const ServeRow& row, ServeJob& job);

ServeJob serve_job(const ServeRow& row, const ServeMeasurements& all) {
    ServeJob job;
    job.family = row.file;
    const auto described = all.models.find(row.model_name());
    const auto alias = all.aliases.find(row.hardware());
    const std::string id = alias == all.aliases.end() ? row.hardware() : alias->second;
    const auto card = all.accelerators.find(id);
    if (described == all.models.end())
        job.problem = "model \"" + row.model_name() + "\" is not described";
    else if (card == all.accelerators.end())
        job.problem = "accelerator \"" + row.hardware() + "\" is not described";
    else if (!numbers_of(row, id, job.setup.numbers))
        job.problem = "numbers \"" + row.dtype() + "\" are not known";
    if (!job.problem.empty()) return job;
    if (const auto note = all.notes.find(row.model_name()); note != all.notes.end())
        job.assumed.push_back(note->second);
    job.setup.transformer = described->second;
    job.setup.accelerator = card->second;
    switch (row.table) {
        case ServeTable::silicon:
            fill_silicon(row, job, id, all);
            break;
        case ServeTable::offline:
            fill_offline(row, job);
            break;
        case ServeTable::static_batch:
            fill_static_batch(row, job);
            break;
        case ServeTable::step:
            fill_step(row, job, all);
            break;
        case ServeTable::point:
            fill_point(row, job);
            break;
        case ServeTable::server:
        case ServeTable::long_context:
            job.problem = "the closed forms do not describe this table: it needs events";
            break;
    }
    for (const model::EngineRule& rule : all.rules)
        if (rule_matches(rule, row, job)) {
            job.rule = rule.name;
            job.efficiency = rule.efficiency;
            return job;
        }
    job.assumed.emplace_back("no calibration for this engine on this card: default shares");
    return job;
}

}  // namespace windtunnel::validate
