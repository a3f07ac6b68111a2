#include "windtunnel/report/model_file.hpp"

#include <fmt/format.h>

namespace windtunnel::report {
namespace {

std::string kind_name(model::AttentionKind kind) {
    switch (kind) {
        case model::AttentionKind::mha:
            return "mha";
        case model::AttentionKind::mqa:
            return "mqa";
        case model::AttentionKind::gqa:
            return "gqa";
        case model::AttentionKind::mla:
            return "mla";
    }
    return "";
}

std::string activation_name(model::Activation activation) {
    switch (activation) {
        case model::Activation::swiglu:
            return "swiglu";
        case model::Activation::geglu:
            return "geglu";
        case model::Activation::gelu:
            return "gelu";
        case model::Activation::relu:
            return "relu";
        case model::Activation::squared_relu:
            return "squared_relu";
    }
    return "";
}

/// Lines `key = value`; a number that equals the default of its key is left out.
class Lines {
public:
    void word(const char* key, const std::string& value) { text_ += fmt::format("{} = {}\n", key, toml_text(value)); }
    void number(const char* key, int value) { text_ += fmt::format("{} = {}\n", key, value); }
    void number_unless(const char* key, int value, int fallback) {
        if (value != fallback) number(key, value);
    }
    void truth(const char* key, bool value) {
        if (value) text_ += fmt::format("{} = true\n", key);
    }
    void table(const char* name) { text_ += fmt::format("\n[{}]\n", name); }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    std::string text_;
};

void add_attention(Lines& lines, const model::Attention& attention) {
    lines.table("attention");
    lines.word("kind", kind_name(attention.kind));
    lines.number("num_heads", attention.num_heads);
    if (attention.kind == model::AttentionKind::mla) {
        lines.number_unless("q_lora_rank", attention.q_lora_rank, 0);
        lines.number("kv_lora_rank", attention.kv_lora_rank);
        lines.number("qk_nope_head_dim", attention.qk_nope_head_dim);
        lines.number("qk_rope_head_dim", attention.qk_rope_head_dim);
        lines.number("v_head_dim", attention.v_head_dim);
    } else {
        if (attention.kind == model::AttentionKind::gqa) lines.number("num_kv_heads", attention.num_kv_heads);
        lines.number("head_dim", attention.head_dim);
    }
    lines.number_unless("sliding_window", attention.sliding_window, 0);
    lines.number_unless("num_sliding_layers", attention.num_sliding_layers, 0);
}

}  // namespace

std::string toml_text(const std::string& text) {
    std::string result = "\"";
    for (const char letter : text) {
        const auto code = static_cast<unsigned char>(letter);
        constexpr unsigned char first_printable = 0x20;
        constexpr unsigned char delete_code = 0x7F;
        if (letter == '"' || letter == '\\') {
            result += '\\';
            result += letter;
        } else if (code < first_printable || code == delete_code) {
            result += fmt::format("\\u{:04X}", code);
        } else {
            result += letter;
        }
    }
    return result + '"';
}

std::string model_toml(const model::Transformer& transformer, const std::string& source) {
    Lines lines;
    lines.word("source", source);
    lines.word("name", transformer.name);
    lines.number("num_layers", transformer.num_layers);
    if (transformer.experts) {
        lines.number_unless("num_dense_layers", transformer.num_dense_layers, 0);
        lines.number_unless("moe_layer_step", transformer.moe_layer_step, 1);
    }
    lines.number("hidden", transformer.hidden);
    lines.number_unless("ffn", transformer.ffn, 0);
    lines.number("vocabulary", transformer.vocabulary);
    lines.number_unless("padded_vocabulary", transformer.padded_vocabulary, 0);
    lines.word("activation", activation_name(transformer.activation));
    lines.truth("tied_embeddings", transformer.tied_embeddings);
    lines.truth("biases", transformer.biases);
    lines.number_unless("learned_positions", transformer.learned_positions, 0);
    lines.number_unless("num_mtp_layers", transformer.num_mtp_layers, 0);
    add_attention(lines, transformer.attention);
    if (transformer.experts) {
        lines.table("experts");
        lines.number("num_routed", transformer.experts->num_routed);
        lines.number("top_k", transformer.experts->top_k);
        lines.number("ffn", transformer.experts->ffn);
        lines.number_unless("shared_ffn", transformer.experts->shared_ffn, 0);
    }
    return lines.text();
}

}  // namespace windtunnel::report
