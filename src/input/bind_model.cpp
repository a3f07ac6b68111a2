#include <fmt/format.h>
#include <fmt/ranges.h>

#include "binders.hpp"
#include "windtunnel/model/layout_rules.hpp"

namespace windtunnel::input {
namespace {

using model::Activation;
using model::AttentionKind;

void add(const Values& values, const char* path, std::string message, std::string expected, Findings& findings) {
    const Value& value = values[path];
    const Place place = value.given ? value.place : values.place;
    findings.push_back(finding_at(place, field_of(values, path), std::move(message), std::move(expected)));
}

/// Optional keys that a kind of attention needs, or that it has no use for.
void check_attention_keys(const Values& values, AttentionKind kind, Findings& findings) {
    const bool mla = kind == AttentionKind::mla;
    for (const char* path : {"attention.kv_lora_rank", "attention.qk_nope_head_dim", "attention.qk_rope_head_dim",
                             "attention.v_head_dim", "attention.q_lora_rank"}) {
        const bool may_miss = std::string_view{path} == "attention.q_lora_rank";
        if (mla && !may_miss && !values.given(path))
            add(values, path, "is missing", "this key for attention.kind \"mla\"", findings);
        if (!mla && values.given(path)) add(values, path, "belongs to attention.kind \"mla\" only", "", findings);
    }
    if (mla && values.given("attention.head_dim"))
        add(values, "attention.head_dim", "belongs to mha, mqa and gqa",
            "qk_nope_head_dim, qk_rope_head_dim and v_head_dim", findings);
    if (kind == AttentionKind::gqa && !values.given("attention.num_kv_heads"))
        add(values, "attention.num_kv_heads", "is missing", "this key for attention.kind \"gqa\"", findings);
}

model::Attention bind_attention(const Values& values, int hidden, int num_layers, Findings& findings) {
    model::Attention attention;
    attention.kind = enum_of<AttentionKind>(values.text("attention.kind"), {{"mha", AttentionKind::mha},
                                                                            {"mqa", AttentionKind::mqa},
                                                                            {"gqa", AttentionKind::gqa},
                                                                            {"mla", AttentionKind::mla}});
    attention.num_heads = values.integer("attention.num_heads");
    const bool mla = attention.kind == AttentionKind::mla;
    check_attention_keys(values, attention.kind, findings);
    attention.num_kv_heads = attention.kind == AttentionKind::mqa ? 1 : attention.num_heads;
    if (values.given("attention.num_kv_heads")) {
        const int given = values.integer("attention.num_kv_heads");
        if (attention.kind != AttentionKind::gqa && given != attention.num_kv_heads)
            add(values, "attention.num_kv_heads",
                fmt::format("{} key/value heads with attention.kind \"{}\"", given, values.text("attention.kind")),
                fmt::format("{}, or attention.kind \"gqa\"", attention.num_kv_heads), findings);
        else if (given > 0 && attention.num_heads % given != 0)
            add(values, "attention.num_kv_heads",
                fmt::format("{} query heads are not divisible by {} key/value heads", attention.num_heads, given),
                fmt::format("nearest: {}",
                            fmt::join(model::nearest_choices(model::divisors(attention.num_heads, attention.num_heads),
                                                             given, 3),
                                      ", ")),
                findings);
        attention.num_kv_heads = given;
    }
    if (!mla && values.given("attention.head_dim")) {
        attention.head_dim = values.integer("attention.head_dim");
    } else if (!mla && attention.num_heads > 0) {
        if (hidden % attention.num_heads != 0)
            add(values, "attention.head_dim",
                fmt::format("hidden {} is not divisible by {} heads", hidden, attention.num_heads),
                "attention.head_dim given", findings);
        attention.head_dim = hidden / attention.num_heads;
    }
    attention.q_lora_rank = values.integer("attention.q_lora_rank");
    attention.kv_lora_rank = values.integer("attention.kv_lora_rank");
    attention.qk_nope_head_dim = values.integer("attention.qk_nope_head_dim");
    attention.qk_rope_head_dim = values.integer("attention.qk_rope_head_dim");
    attention.v_head_dim = values.integer("attention.v_head_dim");
    attention.sliding_window = values.integer("attention.sliding_window");
    attention.num_sliding_layers = values.integer("attention.num_sliding_layers");
    if (attention.num_sliding_layers > num_layers)
        add(values, "attention.num_sliding_layers",
            fmt::format("{} layers with the window of {} layers", attention.num_sliding_layers, num_layers),
            fmt::format("at most {}", num_layers), findings);
    if ((attention.sliding_window > 0) != (attention.num_sliding_layers > 0))
        add(values, "attention.sliding_window",
            fmt::format("window {} with {} layers that use it", attention.sliding_window, attention.num_sliding_layers),
            "both above 0, or neither", findings);
    return attention;
}

std::optional<model::Experts> bind_experts(const Values& values, Findings& findings) {
    if (!values.has_section("experts")) return std::nullopt;
    for (const char* path : {"experts.num_routed", "experts.top_k", "experts.ffn"})
        if (!values.given(path)) add(values, path, "is missing", "this key for a model with experts", findings);
    model::Experts experts;
    experts.num_routed = values.integer("experts.num_routed");
    experts.top_k = values.integer("experts.top_k");
    experts.ffn = values.integer("experts.ffn");
    experts.shared_ffn = values.integer("experts.shared_ffn");
    if (experts.top_k > experts.num_routed)
        add(values, "experts.top_k",
            fmt::format("{} experts per token of {} experts", experts.top_k, experts.num_routed),
            fmt::format("at most {}", experts.num_routed), findings);
    return experts;
}

}  // namespace

model::Transformer bind_model(const Values& values, Findings& findings) {
    model::Transformer transformer;
    if (values.has_bad()) return transformer;  // what follows would repeat it
    transformer.name = values.text("name");
    transformer.num_layers = values.integer("num_layers");
    transformer.hidden = values.integer("hidden");
    transformer.ffn = values.integer("ffn");
    transformer.vocabulary = values.integer("vocabulary");
    transformer.padded_vocabulary = values.integer("padded_vocabulary");
    transformer.activation =
        enum_of<Activation>(values.text("activation"), {{"swiglu", Activation::swiglu},
                                                        {"geglu", Activation::geglu},
                                                        {"gelu", Activation::gelu},
                                                        {"relu", Activation::relu},
                                                        {"squared_relu", Activation::squared_relu}});
    transformer.tied_embeddings = values.flag("tied_embeddings");
    transformer.biases = values.flag("biases");
    transformer.learned_positions = values.integer("learned_positions");
    transformer.num_mtp_layers = values.integer("num_mtp_layers");
    transformer.attention = bind_attention(values, transformer.hidden, transformer.num_layers, findings);
    transformer.experts = bind_experts(values, findings);
    transformer.moe_layer_step = values.integer("moe_layer_step");
    transformer.num_dense_layers = values.given("num_dense_layers") ? values.integer("num_dense_layers")
                                   : transformer.experts            ? 0
                                                                    : transformer.num_layers;
    const int layers = transformer.num_layers;
    if (transformer.num_dense_layers > layers)
        add(values, "num_dense_layers",
            fmt::format("{} dense layers of {} layers", transformer.num_dense_layers, layers),
            fmt::format("at most {}", layers), findings);
    if (!transformer.experts && transformer.num_dense_layers != layers)
        add(values, "num_dense_layers",
            fmt::format("{} dense layers of {} layers in a model without experts", transformer.num_dense_layers,
                        layers),
            fmt::format("{}, or a table [experts]", layers), findings);
    if (!transformer.experts && values.given("moe_layer_step") && transformer.moe_layer_step != 1)
        add(values, "moe_layer_step", "has no meaning in a model without experts", "a table [experts]", findings);
    const bool has_dense = transformer.num_dense_layers > 0 || transformer.moe_layer_step > 1;
    if (has_dense && transformer.ffn == 0)
        add(values, "ffn", "is missing or 0, but the model has dense layers", "the intermediate size of a dense layer",
            findings);
    if (transformer.padded_vocabulary > 0 && transformer.padded_vocabulary < transformer.vocabulary)
        add(values, "padded_vocabulary",
            fmt::format("{} is smaller than the vocabulary {}", transformer.padded_vocabulary, transformer.vocabulary),
            fmt::format("0, or {} and more", transformer.vocabulary), findings);
    return transformer;
}

}  // namespace windtunnel::input
