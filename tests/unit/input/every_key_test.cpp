/// Every declared key is read and used: another value of the key gives another resolved plan.
#include <gtest/gtest.h>

#include <map>

#include "windtunnel/input/keys.hpp"
#include "windtunnel/input/read.hpp"

namespace windtunnel::input {
namespace {

using Settings = std::map<std::string, std::string>;  // dotted key -> TOML text
using Files = std::map<std::string, Settings>;        // kind -> settings

/// A file of dotted keys; keys `list[].key` become one table of the list.
std::string toml_of(const Settings& settings) {
    std::string text = "";
    Settings lists;
    for (const auto& [key, value] : settings) {
        const std::size_t list = key.find("[].");
        if (list == std::string::npos)
            text += key + " = " + value + "\n";
        else
            lists[key.substr(0, list)] +=
                (lists[key.substr(0, list)].empty() ? "" : ", ") + key.substr(list + 3) + " = " + value;
    }
    for (const auto& [list, table] : lists) text += list + " = [{ " + table + " }]\n";
    return text;
}

/// A small job on 128 nodes of 8 cards.
Files base_files() {
    Files files;
    files["accelerator"] = {{"source", "\"test\""},
                            {"id", "\"card\""},
                            {"cards_per_node", "8"},
                            {"memory", "\"64 GB\""},
                            {"memory_bandwidth", "\"1 TB/s\""},
                            {"matrix_peak.bf16", "\"100 TFLOP/s\""},
                            {"scale_up.bandwidth", "\"100 GB/s\""},
                            {"scale_up.latency", "\"1 us\""},
                            {"scale_up.domain", "8"},
                            {"scale_out.bandwidth", "\"10 GB/s\""},
                            {"scale_out.latency", "\"2 us\""}};
    files["cluster"] = {{"source", "\"test\""}, {"accelerator", "\"accelerator\""}, {"nodes", "128"}};
    files["model"] = {
        {"source", "\"test\""}, {"name", "\"m\""},      {"num_layers", "16"},          {"hidden", "4096"},
        {"ffn", "8192"},        {"vocabulary", "1000"}, {"attention.kind", "\"mha\""}, {"attention.num_heads", "32"}};
    files["failures"] = {{"source", "\"test\""}};
    files["calibration"] = {{"name", "\"c\""}};
    files["plan"] = {{"plan.model", "\"model\""},       {"plan.cluster", "\"cluster\""},
                     {"plan.failures", "\"failures\""}, {"calibration.file", "\"calibration\""},
                     {"train.sequence_length", "4096"}, {"train.global_batch_size", "1024"},
                     {"train.layout.cards", "1024"}};
    return files;
}

std::string resolved(const Files& files) {
    const FileProvider provider = [&](const std::string& path) -> FileText {
        const auto found = files.find(path);
        if (found == files.end()) return {{}, "does not exist", false};
        return {toml_of(found->second), {}, false};
    };
    return read_plan("plan", {}, provider).resolved_text;
}

/// What must stand beside a key for it to be legal, whatever its value.
Settings context(const std::string& kind, const std::string& key) {
    const Settings mla{{"attention.kind", "\"mla\""},
                       {"attention.kv_lora_rank", "512"},
                       {"attention.qk_nope_head_dim", "128"},
                       {"attention.qk_rope_head_dim", "64"},
                       {"attention.v_head_dim", "128"}};
    const Settings experts{{"experts.num_routed", "8"}, {"experts.top_k", "4"}, {"experts.ffn", "512"}};
    if (kind == "model" && (mla.contains(key) || key == "attention.q_lora_rank") && key != "attention.kind") return mla;
    if (kind == "model" && key == "attention.num_kv_heads")
        return {{"attention.kind", "\"gqa\""}, {"attention.num_kv_heads", "8"}};
    if (kind == "model" && (key.starts_with("experts.") || key.ends_with("dense_layers") || key == "moe_layer_step"))
        return experts;
    if (kind == "accelerator" && key == "on_chip.tiles")
        return {{"on_chip.cores", "20"}, {"on_chip.clock", "\"1 GHz\""}, {"on_chip.flops_per_cycle", "8192"}};
    if (kind == "cluster" && key == "scale_out.oversubscription") return {{"scale_out.leaf_cards", "64"}};
    if (kind == "model" && key.find("sliding") != std::string::npos)
        return {{"attention.sliding_window", "64"}, {"attention.num_sliding_layers", "4"}};
    if (kind == "calibration" && key.starts_with("fitted_"))
        return {{"fitted_max_cards", "9"},
                {"fitted_max_hidden", "9"},
                {"fitted_max_sequence", "9"},
                {"step_time_error_90", "0.2"}};
    if (kind == "calibration" && key.starts_with("release[]")) return {{"release[].name", "\"25.09\""}};
    if (kind == "failures" && key.starts_with("component[]"))
        return {{"component[].name", "\"n\""},
                {"component[].count_per", "\"node\""},
                {"component[].up", "\"9 h\""},
                {"component[].repair", "\"1 h\""},
                {"component[].effect", "\"slows\""}};
    if (kind == "failures" && key.starts_with("variant[]"))
        return {{"variant[].name", "\"n\""}, {"variant[].up", "\"9 h\""}, {"variant[].repair", "\"1 h\""}};
    if (kind == "plan" && key.starts_with("serve."))
        return {{"serve.load.request_rate", "1"},
                {"serve.load.input.mean", "100"},
                {"serve.load.output.mean", "100"},
                {"serve.model.speculative_tokens", "1"},
                {"serve.load.prefix_groups", "1"},
                {"serve.load.prefix_tokens", "64"},
                {"serve.deployment.autoscaling.requests_per_instance", "4"}};
    if (kind == "plan" && key.starts_with("recovery.ladder[]"))
        return {{"recovery.ladder[].action", "\"a\""}, {"recovery.ladder[].time", "\"1 min\""}};
    if (kind == "plan" && key.starts_with("train.published."))
        return {{"train.published.micro_batch_size", "1"}, {"train.layout.cards", "\"any\""}};
    if (kind == "plan" && key == "train.context.ulysses_degree")
        return {{"train.context.method", "\"hybrid\""}, {"train.layout.context_parallel", "4"}};
    if (kind == "plan" && key.starts_with("train.offload.")) return {{"train.offload.bandwidth", "\"25 GB/s\""}};
    if (kind == "plan" && (key == "train.documents.sigma" || key == "train.documents.packing"))
        return {{"train.documents.median", "1000"}};
    if (kind == "plan" && key == "recovery.spare_nodes") return {{"train.layout.cards", "512"}};
    if (kind == "plan" && key.ends_with("expert_parallel")) return {};
    return {};
}

/// Another legal value than the base, by the kind of the key.
Settings changed(const std::string& kind, const Key& key) {
    static const std::map<std::string, Settings> special{
        {"model attention.kind", {{"attention.kind", "\"mqa\""}}},
        {"model padded_vocabulary", {{"padded_vocabulary", "1024"}}},
        {"model vocabulary", {{"vocabulary", "2000"}}},
        {"model num_layers", {{"num_layers", "8"}}},
        {"model attention.num_heads", {{"attention.num_heads", "16"}}},
        {"model attention.num_kv_heads", {{"attention.num_kv_heads", "4"}}},
        {"accelerator cards_per_node", {{"cards_per_node", "16"}}},
        {"accelerator scale_up.domain", {{"scale_up.domain", "16"}}},
        {"cluster nodes", {{"nodes", "256"}}},
        {"cluster cards_per_node", {{"cards_per_node", "16"}}},
        {"cluster scale_up.domain", {{"scale_up.domain", "16"}}},
        {"cluster scale_out.oversubscription", {{"scale_out.oversubscription", "4"}}},
        {"failures component[].effect", {{"component[].effect", "\"none\""}}},
        {"failures component[].slow_factor", {{"component[].slow_factor", "3"}}},
        {"calibration step_time_error_90", {{"step_time_error_90", "0.2"}}},
        {"plan train.sequence_length", {{"train.sequence_length", "8192"}}},
        {"plan train.global_batch_size", {{"train.global_batch_size", "[1024, 2048]"}}},
        {"plan train.layout.cards", {{"train.layout.cards", "\"any\""}}},
        {"plan train.layout.expert_parallel", {{"train.layout.expert_parallel", "\"any\""}}},
        {"plan train.layout.expert_tensor_parallel", {{"train.layout.expert_tensor_parallel", "\"any\""}}},
        {"plan train.layout.pipeline_split", {{"train.layout.pipeline_split", "\"short_last\""}}},
        {"plan train.published.pipeline_split", {{"train.published.pipeline_split", "[16]"}}},
        {"plan train.published.cards", {{"train.published.cards", "512"}}},
        {"plan train.published.global_batch_size", {{"train.published.global_batch_size", "2048"}}},
        {"plan train.published.virtual_pipeline",
         {{"train.published.virtual_pipeline", "2"},
          {"train.published.pipeline_parallel", "2"},
          {"train.published.pipeline_schedule", "\"interleaved\""}}},
        {"plan train.published.pipeline_schedule", {{"train.published.pipeline_schedule", "\"gpipe\""}}},
        {"plan train.published.micro_batch_size",
         {{"train.published.micro_batch_size", "2"}, {"train.published.cards", "512"}}},
        {"plan serve.model.expert_skew", {{"serve.model.expert_skew", "2"}}},
        {"plan serve.load.burst_factor", {{"serve.load.burst_factor", "2"}}},
        {"plan serve.load.turns", {{"serve.load.turns", "2"}}},
        {"plan serve.load.input.mean", {{"serve.load.input.mean", "50"}}},
        {"plan serve.load.output.mean", {{"serve.load.output.mean", "50"}}},
        {"plan serve.load.arrivals", {{"serve.load.arrivals", "\"gamma\""}}},
        {"plan serve.deployment.max_num_batched_tokens", {{"serve.deployment.max_num_batched_tokens", "16384"}}},
        {"plan serve.deployment.prefill.max_num_batched_tokens",
         {{"serve.deployment.prefill.max_num_batched_tokens", "16384"}}},
        {"model hidden", {{"hidden", "2048"}}},
        {"model experts.num_routed", {{"experts.num_routed", "16"}}},
        {"plan train.experts.imbalance", {{"train.experts.imbalance", "1.5"}}},
        {"plan train.documents.median", {{"train.documents.median", "500"}}},
        {"plan cost.pue", {{"cost.pue", "1.5"}}},
    };
    if (const auto found = special.find(kind + " " + key.path); found != special.end()) return found->second;
    std::string value;
    switch (key.kind) {
        case KeyKind::integer:
            value = "2";
            break;
        case KeyKind::number:
            value = "0.25";
            break;
        case KeyKind::quantity:
            value = "\"9" + key.example + "\"";
            break;  // "925 GB/s"
        case KeyKind::boolean:
            value = key.fallback == "true" || key.fallback == "none" ? "false" : "true";
            break;
        case KeyKind::word:
            value =
                "\"" + (key.fallback == "\"" + key.words.back() + "\"" ? key.words.front() : key.words.back()) + "\"";
            break;
        case KeyKind::integer_axis:
            value = "[1, 2]";
            break;
        case KeyKind::word_axis:
            value = "\"any\"";
            break;
        case KeyKind::word_list:
            value = "[\"" + key.words.back() + "\"]";
            break;
        case KeyKind::law:
            value = "{ law = \"gamma\", shape = 3, scale = \"7 h\" }";
            break;
        case KeyKind::split:
            value = "\"slots\"";
            break;
        case KeyKind::integer_list:
            value = "[1]";
            break;
        case KeyKind::text_list:
            value = "[\"x\"]";
            break;
        case KeyKind::text:
            value = "\"other\"";
            break;
        case KeyKind::path:
        case KeyKind::tables:
        case KeyKind::expression:
        case KeyKind::names:
            break;
    }
    return {{key.path, value}};
}

/// Keys that stand for another one, or that other tests cover: paths, the inline twins of cluster and failures files.
bool covered_elsewhere(const std::string& kind, const Key& key) {
    if (key.kind == KeyKind::path || key.kind == KeyKind::tables) return true;
    if (kind == "chain") return true;    // chain_test: no part of a plan
    if (kind == "engine") return true;   // serve_records_test
    if (kind == "machine") return true;  // recovery_machine_test
    if (kind == "calibration" && (key.path.starts_with("parameter[]") || key.path == "rows"))
        return true;  // read_plan_test: what a fit says of its values is no part of a plan
    if (kind == "cluster" && key.path == "cards") return true;
    if (kind != "plan") return false;
    return key.path.starts_with("cluster.") || key.path.starts_with("failures.") || key.path == "plan.nodes" ||
           key.path == "plan.cards" || key.path == "train.precision" || key.path == "calibration.release" ||
           key.path == "recovery.ladder[].covers" || key.path.starts_with("train.published.expert_");
}

TEST(EveryKey, ChangesTheResolvedPlan) {
    int tried = 0;
    for (const KeyFile& file : key_table())
        for (const Key& key : file.keys) {
            if (covered_elsewhere(file.kind, key)) continue;
            Files files = base_files();
            for (const auto& [path, value] : context(file.kind, key.path)) files[file.kind][path] = value;
            try {
                const std::string before = resolved(files);
                for (const auto& [path, value] : changed(file.kind, key)) files[file.kind][path] = value;
                EXPECT_NE(before, resolved(files)) << file.kind << " " << key.path << ": read and not used";
            } catch (const base::InputError& error) {
                ADD_FAILURE() << file.kind << " " << key.path << ":\n" << error.what();
            }
            ++tried;
        }
    EXPECT_GT(tried, 100);
}

TEST(Release, ThePlanTakesTheNewestOrTheOneThatItNames) {
    Files files = base_files();
    files["calibration"]["release[].name"] = "\"26.04\"";
    files["calibration"]["release[].factor"] = "0.25";
    EXPECT_NE(resolved(files).find("calibration.release_factor = 0.25"), std::string::npos);
    files["plan"]["calibration.release"] = "\"26.04\"";
    EXPECT_NE(resolved(files).find("calibration.release_factor = 0.25"), std::string::npos);
    files["plan"]["calibration.release"] = "\"26.06\"";
    try {
        (void)resolved(files);
        FAIL() << "an unknown release is taken";
    } catch (const base::InputError& error) {
        EXPECT_NE(std::string{error.what()}.find("one of 26.04"), std::string::npos) << error.what();
    }
}

TEST(ResolvedText, DoesNotDependOnTheOrderOrTheSpellingOfUnits) {
    Files files = base_files();
    const std::string before = resolved(files);
    files["accelerator"]["memory_bandwidth"] = "\"1000 GB/s\"";
    files["accelerator"]["scale_out.bandwidth"] = "\"80 Gbit/s\"";
    files["plan"]["train.layout.tensor_parallel"] = "[1]";
    EXPECT_EQ(before, resolved(files));
}

}  // namespace
}  // namespace windtunnel::input
