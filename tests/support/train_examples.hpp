#pragma once
/// Models, cards and jobs that several tests of training use. Structures as published; cards by data sheet.
#include "windtunnel/train/job.hpp"

namespace windtunnel::test {

/// hidden, layers, heads, key/value heads, head size, feed-forward, vocabulary.
inline model::Transformer dense_model(int layers, int hidden, int heads, int kv_heads, int head_dim, int ffn,
                                      int words) {
    model::Transformer model;
    model.num_layers = model.num_dense_layers = layers;
    model.hidden = hidden;
    model.ffn = ffn;
    model.attention.kind = heads == kv_heads ? model::AttentionKind::mha : model::AttentionKind::gqa;
    model.attention.num_heads = heads;
    model.attention.num_kv_heads = kv_heads;
    model.attention.head_dim = head_dim;
    model.vocabulary = words;
    return model;
}

/// GPT of the first Megatron-LM: feed-forward 4 h, GELU, biases, tied embeddings, 51,200 words.
inline model::Transformer gpt(int layers, int hidden, int heads) {
    model::Transformer model = dense_model(layers, hidden, heads, heads, hidden / heads, 4 * hidden, 51200);
    model.activation = model::Activation::gelu;
    model.biases = true;
    model.tied_embeddings = true;
    return model;
}

inline model::Transformer llama3_70b() {
    return dense_model(80, 8192, 64, 8, 128, 28672, 128256);
}
inline model::Transformer llama3_405b() {
    return dense_model(126, 16384, 128, 8, 128, 53248, 128256);
}
inline model::Transformer pangu_ultra_135b() {
    return dense_model(94, 12288, 96, 8, 128, 28672, 153376);
}

/// DeepSeek-V3's structure with another width and vocabulary.
inline model::Transformer pangu_ultra_moe_718b() {
    model::Transformer model = dense_model(61, 7680, 128, 128, 0, 18432, 153600);
    model.num_dense_layers = 3;
    model.attention = {model::AttentionKind::mla, 128, 128, 0, 1536, 512, 128, 64, 128};
    model.experts = model::Experts{256, 8, 2048, 2048};
    model.num_mtp_layers = 1;
    return model;
}

/// DeepSeek-V2 with fewer layers.
inline model::Transformer deepseek_v2(int layers) {
    model::Transformer model = dense_model(layers, 5120, 128, 128, 0, 12288, 102400);
    model.num_dense_layers = 1;
    model.attention = {model::AttentionKind::mla, 128, 128, 0, 1536, 512, 128, 64, 128};
    model.experts = model::Experts{160, 6, 1536, 3072};
    return model;
}

/// A card by data sheet: 16-bit peak in TFLOP/s, memory, memory bandwidth, links in GB/s per direction, cards of a
/// node.
inline model::Accelerator card(double peak, Bytes memory, double memory_bandwidth, double scale_up, double scale_out,
                               int per_node = 8) {
    model::Accelerator card;
    card.matrix_peak[static_cast<std::size_t>(model::Precision::bf16)] = FlopsPerSecond{peak * base::tera};
    card.memory = memory;
    card.memory_bandwidth = BytesPerSecond{memory_bandwidth * base::giga};
    card.scale_up = {BytesPerSecond{scale_up * base::giga}, Seconds{5e-6}, "scale-up"};
    card.scale_out = {BytesPerSecond{scale_out * base::giga}, Seconds{5e-6}, "scale-out"};
    card.scale_up_domain = card.cards_per_node = per_node;
    return card;
}
inline model::Accelerator a100() {
    return card(312, Bytes{80e9}, 2039, 300, 25);
}
inline model::Accelerator h100() {
    return card(989.4, Bytes{80e9}, 3350, 450, 50);
}
inline model::Accelerator b200() {
    return card(2250, Bytes{180e9}, 7700, 900, 50);
}
inline model::Accelerator ascend_910b() {
    return card(353.9, Bytes{64 * base::gib}, 1600, 196, 25);
}

/// NVIDIA's "80 GB" cards report 80 GiB (81,920 MiB; 81,559 MiB on H100).
inline model::Accelerator a800() {
    return card(312, Bytes{80 * base::gib}, 2039, 200, 25);
}
inline model::Accelerator h800() {
    return card(989.4, Bytes{80 * base::gib}, 3350, 200, 50);
}

inline train::Job job(const model::Transformer& transformer, const model::Accelerator& accelerator, int cards,
                      int sequence_length) {
    train::Job job;
    job.transformer = transformer;
    job.cluster.accelerator = accelerator;
    job.cluster.num_nodes = (cards + accelerator.cards_per_node - 1) / accelerator.cards_per_node;
    job.sequence_length = sequence_length;
    return job;
}

inline model::Layout layout(int cards, int tp, int pp, int micro_batch, std::int64_t global_batch) {
    model::Layout layout;
    layout.cards = cards;
    layout.tensor_parallel = tp;
    layout.pipeline_parallel = pp;
    layout.micro_batch_size = micro_batch;
    layout.global_batch_size = global_batch;
    return layout;
}

inline double gib(Bytes bytes) {
    return bytes.value() / base::gib;
}

}  // namespace windtunnel::test
