// clang-format off: one key per line
#include "key_tables.hpp"

// Columns as in the other tables: path, kind, default, meaning, example, range, words.
namespace windtunnel::input {

std::vector<Key> method_keys() {
    using enum KeyKind;
    return {
        {"train.context.method",
         word,
         "\"all_gather\"",
         "context parallelism: keys and values gathered, passed round a ring, heads exchanged by all-to-all (ulysses), "
         "or all-to-all in groups and a ring between them (hybrid)",
         "",
         {},
         {"all_gather", "ring", "ulysses", "hybrid"}},
        {"train.context.ulysses_degree", integer, "1", "hybrid: ranks of an all-to-all group", "", {1, 1'000'000}},
        {"train.sharding.group",
         integer,
         "0",
         "ranks over which ZeRO and FSDP share out states; gradients are all-reduced between such groups (hybrid "
         "sharding); 0: all of dp x cp",
         "",
         {0, 1'000'000}},
        {"train.experts.imbalance", number, "1", "tokens of the busiest expert rank over the mean", "", {1, 1e6}},
        {"train.recomputation.modules",
         word_list,
         "none",
         "what recompute = \"selective\" runs again; none: the attention core without flash attention, else norms, "
         "activation and up-projections of latent attention",
         "",
         {},
         {"norms", "activation", "attention_core", "up_projections", "feed_forward", "experts"}},
        {"train.recomputation.method",
         word,
         "\"uniform\"",
         "full recompute: uniform keeps one input for each group of layers; block recomputes only the first layers of "
         "a "
         "chunk",
         "",
         {},
         {"uniform", "block"}},
        {"train.recomputation.layers",
         integer,
         "0",
         "uniform: layers of a group; block: recomputed layers of a chunk; 0: every layer, each by itself",
         "",
         {0, 100'000}},
        {"train.overlap.operators", boolean, "false",
         "communication inside a layer hides as the operator graph lets it, not by the fitted share"},
        {"train.overlap.chunks", integer, "1", "pieces of a tensor-parallel collective and its product", "", {1, 64}},
        {"train.overlap.compute_rate",
         number,
         "none",
         "part of its speed that compute keeps while communication runs beside it; none: 112/132 for pairs of "
         "micro-batches, 1 inside a layer",
         "0.85",
         {0, 1, true}},
        {"train.overlap.communication_rate",
         number,
         "1",
         "part of its speed that communication keeps while compute runs beside it",
         "",
         {0, 1, true}},
        {"train.overlap.point_to_point", boolean, "true",
         "false: a rank waits for the end of each transfer that it sends to a pipeline neighbour"},
        {"train.overlap.experts", boolean, "false",
         "1f1b and interleaved: a forward and a backward run as a pair, expert communication of each under the other"},
        {"train.overlap.bucket",
         quantity,
         "\"0 B\"",
         "gradients and weights that are exchanged at once; 0: one exchange for a stage",
         "40 MB",
         {0, 1e15}},
        {"train.host.launch",
         quantity,
         "\"0 s\"",
         "time of the host to issue a kernel; 0: it never waits",
         "5 us",
         {0, 1}},
        {"train.host.graphs", boolean, "false", "each pass of a layer is one recorded graph"},
        {"train.host.graph_launch", quantity, "\"0 s\"", "time of the host to issue a graph", "20 us", {0, 1}},
        {"train.jitter.sigma",
         number,
         "0",
         "standard deviation of a card's time of a step, relative; the step waits for the slowest card",
         "1 %",
         {0, 1}},
        {"train.jitter.law", word, "\"normal\"", "law of that time", "", {}, {"normal", "lognormal"}},
        {"train.jitter.slow_share", number, "0", "probability that a card is a slow one", "0.1 %", {0, 1}},
        {"train.jitter.slow_speed", number, "1", "speed of a slow card, relative", "90 %", {0, 1, true}},
        {"train.offload.activations",
         number,
         "0",
         "share of the activations in host memory between forward and backward",
         "50 %",
         {0, 1}},
        {"train.offload.optimizer", number, "0", "share of the optimizer states in host memory", "50 %", {0, 1}},
        {"train.offload.bandwidth",
         quantity,
         "none",
         "from a card to host memory, each direction",
         "25 GB/s",
         {0, 1e15, true}},
        {"train.documents.lengths",
         integer_list,
         "none",
         "tokens of the documents, taken in turn until the batch is full",
         "",
         {1, 100'000'000}},
        {"train.documents.median",
         number,
         "none",
         "instead of lengths: tokens, median of a lognormal law",
         "",
         {1, 1e8}},
        {"train.documents.sigma", number, "0", "standard deviation of the logarithm of the length", "", {0, 10}},
        {"train.documents.packing",
         word,
         "\"in_order\"",
         "padded: one document a sequence; in_order: into the open micro-batch while it has room; longest_first: "
         "longest "
         "work into the lightest micro-batch",
         "",
         {},
         {"padded", "in_order", "longest_first"}},
    };
}

bool is_method(std::string_view path) {
    if (!path.starts_with("train.")) return false;
    const std::string_view rest = path.substr(6);
    const auto dot = rest.find('.');
    const std::string_view section = rest.substr(0, dot);
    return dot != std::string_view::npos && section != "layout" && section != "published";
}

}  // namespace windtunnel::input
