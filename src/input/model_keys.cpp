// clang-format off: one key per line
#include "key_tables.hpp"

namespace windtunnel::input {

std::vector<Key> model_keys() {
    using enum KeyKind;
    const Range size{1, 10'000'000}, size_or_none{0, 10'000'000};
    return {
        {"name", text, "required", "name of the model"},
        {"num_layers", integer, "required", "transformer layers", "", {1, 100'000}},
        {"num_dense_layers", integer, "none", "leading layers without experts; default: all of a dense model, none of a MoE model", "", {0, 100'000}},
        {"moe_layer_step", integer, "1", "after the leading dense layers, every n-th layer has experts", "", {1, 100'000}},
        {"hidden", integer, "required", "hidden size", "", size},
        {"ffn", integer, "0", "intermediate size of a dense layer; 0 where every layer has experts", "", size_or_none},
        {"vocabulary", integer, "required", "vocabulary as published", "", size},
        {"padded_vocabulary", integer, "0", "rows of the embedding that are stored; 0: next multiple of 128 x tensor_parallel", "", size_or_none},
        {"activation", word, "\"swiglu\"", "swiglu and geglu have three weight matrices, the others two", "", {}, {"swiglu", "geglu", "gelu", "relu", "squared_relu"}},
        {"tied_embeddings", boolean, "false", "input and output embedding are one matrix"},
        {"biases", boolean, "false", "linear layers have biases"},
        {"learned_positions", integer, "0", "rows of a learned position table; 0: rotary or ALiBi", "", size_or_none},
        {"num_mtp_layers", integer, "0", "multi-token-prediction modules behind the last layer", "", {0, 1000}},
        {"attention.kind", word, "required", "query, key and value structure", "", {}, {"mha", "mqa", "gqa", "mla"}},
        {"attention.num_heads", integer, "required", "query heads", "", {1, 100'000}},
        {"attention.num_kv_heads", integer, "none", "key/value heads; needed for gqa", "", {1, 100'000}},
        {"attention.head_dim", integer, "none", "width of a head; default hidden / num_heads (not for mla)", "", {1, 100'000}},
        {"attention.q_lora_rank", integer, "0", "mla: rank of the query projection; 0: straight from the hidden state", "", {0, 1'000'000}},
        {"attention.kv_lora_rank", integer, "none", "mla: rank of the key/value latent", "", {1, 1'000'000}},
        {"attention.qk_nope_head_dim", integer, "none", "mla: head width without rotary part", "", {1, 100'000}},
        {"attention.qk_rope_head_dim", integer, "none", "mla: width of the rotary part", "", {1, 100'000}},
        {"attention.v_head_dim", integer, "none", "mla: width of a value head", "", {1, 100'000}},
        {"attention.sliding_window", integer, "0", "tokens that a windowed layer sees; 0: full attention everywhere", "", {0, 1e9}},
        {"attention.num_sliding_layers", integer, "0", "layers with the window", "", {0, 100'000}},
        {"experts.num_routed", integer, "none", "routed experts of a MoE layer; without it the model is dense", "", {1, 1'000'000}},
        {"experts.top_k", integer, "none", "routed experts per token", "", {1, 1'000'000}},
        {"experts.ffn", integer, "none", "intermediate size of one routed expert", "", size},
        {"experts.shared_ffn", integer, "0", "intermediate size of all shared experts together; 0: none", "", size_or_none},
    };
}

}  // namespace windtunnel::input
