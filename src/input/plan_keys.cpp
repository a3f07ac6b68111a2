// clang-format off: one key per line
#include "key_tables.hpp"

namespace windtunnel::input {
namespace {

const std::vector<std::string> matrix_words{"bf16", "fp16", "fp8", "mxfp8", "nvfp4", "fp32", "tf32", "int8"};
const std::vector<std::string> schedule_words{"gpipe",  "1f1b",  "interleaved", "zb_1p",     "zb_v",
                                              "v_half", "v_min", "dualpipe",    "dualpipe_v"};
const std::vector<std::string> recompute_words{"none", "selective", "full"};
const std::vector<std::string> split_words{"uniform", "slots", "short_last"};
constexpr Range degree{1, 1'000'000};

std::vector<Key> layout_keys() {
    using enum KeyKind;
    return {
        {"train.layout.cards",
         integer_axis,
         "\"any\"",
         "cards of the job; \"any\": every multiple of a node from 90 % of the cluster up; what is left over is the "
         "spare pool; recovery.spare_nodes are never used",
         "",
         {1, most_cards}},
        {"train.layout.tensor_parallel", integer_axis, "1", "tensor-parallel ranks", "", degree},
        {"train.layout.pipeline_parallel", integer_axis, "1", "pipeline ranks", "", degree},
        {"train.layout.virtual_pipeline", integer_axis, "1", "model chunks of a pipeline rank", "", degree},
        {"train.layout.pipeline_split",
         split,
         "\"uniform\"",
         "how layers are dealt to chunks: uniform must divide; slots counts embedding, head and each MTP module as a "
         "layer; short_last; or [layers per chunk]",
         "",
         {0, 100'000},
         split_words},
        {"train.layout.context_parallel", integer_axis, "1", "context-parallel ranks", "", degree},
        {"train.layout.expert_parallel", integer_axis, "1", "expert-parallel ranks", "", degree},
        {"train.layout.expert_tensor_parallel", integer_axis, "1", "tensor-parallel ranks of an expert", "", degree},
        {"train.layout.micro_batch_size", integer_axis, "1", "sequences of a micro-batch", "", degree},
        {"train.layout.recompute",
         word_axis,
         "\"none\"",
         "activations computed again in the backward pass",
         "",
         {},
         recompute_words},
        {"train.layout.pipeline_schedule",
         word_axis,
         "\"1f1b\"",
         "order of forward and backward passes",
         "",
         {},
         schedule_words},
        {"train.layout.optimizer_sharding", integer_axis, "1", "ZeRO level over dp x cp", "", {0, 3}},
        {"train.layout.sequence_parallel", boolean, "true",
         "with tensor parallelism, norms and residuals are split along the sequence"},
    };
}

std::vector<Key> published_keys() {
    using enum KeyKind;
    return {
        {"train.published.cards",
         integer,
         "none",
         "one layout, used by train and avail; a missing key takes the one value of train.layout, else its default; "
         "cards: all of the cluster",
         "",
         {1, most_cards}},
        {"train.published.tensor_parallel", integer, "none", "as in train.layout", "", degree},
        {"train.published.pipeline_parallel", integer, "none", "as in train.layout", "", degree},
        {"train.published.virtual_pipeline", integer, "none", "as in train.layout", "", degree},
        {"train.published.pipeline_split", split, "none", "as in train.layout", "", {0, 100'000}, split_words},
        {"train.published.context_parallel", integer, "none", "as in train.layout", "", degree},
        {"train.published.expert_parallel", integer, "none", "as in train.layout", "", degree},
        {"train.published.expert_tensor_parallel", integer, "none", "as in train.layout", "", degree},
        {"train.published.micro_batch_size", integer, "none", "as in train.layout", "", degree},
        {"train.published.global_batch_size",
         integer,
         "none",
         "sequences of a step; as train.global_batch_size",
         "",
         {1, 1e12}},
        {"train.published.recompute", word, "none", "as in train.layout", "", {}, recompute_words},
        {"train.published.pipeline_schedule", word, "none", "as in train.layout", "", {}, schedule_words},
        {"train.published.optimizer_sharding", integer, "none", "as in train.layout", "", {0, 3}},
        {"train.published.sequence_parallel", boolean, "none", "as in train.layout"},
    };
}

std::vector<Key> recovery_keys() {
    using enum KeyKind;
    const Range some_time{0, most_seconds, true}, any_time{0, most_seconds};
    return {
        {"recovery.checkpoint_interval",
         quantity,
         "\"optimal\"",
         "time between checkpoints, or \"optimal\" (Daly)",
         "30 min",
         some_time,
         {"optimal"}},
        {"recovery.checkpoint_write", quantity, "none",
         "time that a checkpoint stops the job; default: state bytes / checkpoint_bandwidth", "30 s", any_time},
        {"recovery.checkpoint_bandwidth",
         quantity,
         "\"2.7 GB/s\"",
         "write bandwidth of a node",
         "2.7 GB/s",
         {0, 1e18, true}},
        {"recovery.checkpoint_background", quantity, "\"0 s\"",
         "time from the end of checkpoint_write, when the job goes on, until the checkpoint is complete", "60 s",
         any_time},
        {"recovery.detection", law, "none",
         "time until a failure is noticed, the job stands still; default: 0 s. Component classes may have their own"},
        {"recovery.ageing",
         word,
         "\"always\"",
         "when components age and fail: also while the job is down, or not",
         "",
         {},
         {"always", "while_running"}},
        {"recovery.fleet",
         word,
         "\"new\"",
         "age of the components at the start: new, or that of a fleet that has been repaired for long",
         "",
         {},
         {"new", "stationary"}},
        {"recovery.restart", law, "none", "time from a failure until the job runs again; default: 600 s, assumed"},
        {"recovery.spare_nodes",
         integer,
         "none",
         "nodes of the cluster that no job uses, kept as spares; default: those that the layout leaves over",
         "",
         {0, most_cards}},
        {"recovery.ladder", tables, "none",
         "rungs of the recovery ladder, tried in order; default: restart from the last checkpoint"},
        {"recovery.ladder[].action", text, "required", "name of the rung"},
        {"recovery.ladder[].success", number, "1", "probability that the rung helps", "", {0, 1}},
        {"recovery.ladder[].time", law, "required", "time that the rung takes"},
        {"recovery.ladder[].limit", quantity, "none", "a longer time is cut off there, and the rung has not helped",
         "180 s", some_time},
        {"recovery.ladder[].lost",
         word,
         "\"since_checkpoint\"",
         "work that is lost",
         "",
         {},
         {"nothing", "one_step", "since_checkpoint"}},
        {"recovery.ladder[].covers", text_list, "[]", "names of the components that it helps against; none: all"},
        {"recovery.ladder[].needs_spare", boolean, "false", "the rung takes a spare node"},
    };
}

std::vector<Key> main_keys() {
    using enum KeyKind;
    const std::vector<std::string> objectives{"tokens_per_second", "step_time", "cost", "energy", "time_to_tokens"};
    return {
        {"plan.title", text, "\"\"", "one line for people"},
        {"plan.model", path, "required", "model file, or a Hugging Face config.json or its folder"},
        {"plan.cluster", path, "none", "cluster file; or give accelerator and nodes, or a [cluster] table"},
        {"plan.accelerator", path, "none", "accelerator file, together with nodes or cards"},
        {"plan.nodes", integer, "none", "number of servers", "", {1, most_cards}},
        {"plan.cards", integer, "none", "number of cards, instead of nodes", "", {1, most_cards}},
        {"plan.failures", path, "none", "failures file; or a [failures] table"},
        {"plan.seed", integer, "1", "seed of all random streams", "", {0, 9.2e18}},
        {"calibration.file", path, "none",
         "calibration file; default: the one that the accelerator file names, else a default set, assumed"},
        {"calibration.release", text, "none",
         "release of the software, one that the calibration file names, or average: the average of the fit; default: "
         "its newest"},
        {"train.sequence_length", integer, "required", "tokens of a sequence", "", {1, 100'000'000}},
        {"train.global_batch_size",
         integer_axis,
         "required",
         "sequences of a step: one value, a list or a range",
         "",
         {1, 1e12},
         {},
         false},
        {"train.tokens", number, "0", "tokens of the whole run; 0: not given", "", {0, 1e18}},
        {"train.precision", word, "\"bf16\"", "precision of matrix products", "", {}, matrix_words},
        {"train.gradient_precision",
         word,
         "\"fp32\"",
         "precision of the gradient buffer and its exchange",
         "",
         {},
         {"fp32", "bf16", "fp16"}},
        {"train.activation_precision",
         word,
         "\"bf16\"",
         "precision in which the inputs of activation functions are stored for the backward pass",
         "",
         {},
         {"bf16", "fp8"}},
        {"train.flash_attention", boolean, "true",
         "false: the attention core as batched products that store scores, with dropout"},
        {"train.fused_operators", boolean, "true",
         "false: activation, dropout and cross-entropy as separate kernels, which hold more memory"},
        {"train.reserve", number, "none", "fraction of card memory that stays free", "5 %", {0, 1, false, true}},
        {"search.objective", word, "\"tokens_per_second\"", "what the best layout is best in", "", {}, objectives},
        {"search.pareto",
         word_list,
         "[\"tokens_per_second\", \"memory\"]",
         "quantities of the Pareto front",
         "",
         {},
         {"tokens_per_second", "step_time", "memory", "cards", "cost", "energy", "time_to_tokens"}},
        {"search.top", integer, "50", "layouts that are listed", "", {1, 100'000}},
        {"search.margin",
         number,
         "0.1",
         "closed form within this fraction of the N-th best goes to the executor",
         "10 %",
         {0, 10}},
        {"search.limits.parameters", number, "none", "most parameters of the model", "", {0, 1e18, true}},
        {"search.limits.activated_parameters", number, "none", "most parameters used by a token", "", {0, 1e18, true}},
        {"search.limits.usd", quantity, "none", "most cost of the run", "2e6 USD", {0, 1e18, true}},
        {"search.limits.power", quantity, "none", "most power of the cards of the job", "5 MW", {0, 1e15, true}},
        {"rehearsal.horizon", quantity, "none", "wall clock at most", "90 days", {0, most_seconds, true}},
        {"rehearsal.tokens", number, "none", "tokens to reach; default train.tokens", "", {0, 1e18, true}},
        {"rehearsal.trials", integer, "1000", "Monte Carlo trials", "", {1, 1e12}},
        {"cost.card_hour", quantity, "\"0 USD/h\"", "price of a card; 0: no cost is printed", "2.5 USD/h", {0, 1e9}},
        {"cost.energy_price", quantity, "\"0 USD/kWh\"", "price of energy", "0.08 USD/kWh", {0, 1e3}},
        {"cost.pue", number, "1", "power of the building over power of the cards", "", {1, 10}},
        {"cost.spare_node", quantity, "\"0 USD/h\"", "price of a spare node", "10 USD/h", {0, 1e9}},
    };
}

void append_below(std::vector<Key>& keys, const std::vector<Key>& more, const std::string& section) {
    for (Key key : more) {
        key.path = section + "." + key.path;
        if (key.fallback == "required" && key.path.find("[]") == std::string::npos) key.fallback = "none";
        keys.push_back(std::move(key));
    }
}

}  // namespace

std::vector<Key> plan_keys() {
    std::vector<Key> keys = main_keys();
    append_below(keys, cluster_keys(), "cluster");
    for (const auto& part : {layout_keys(), method_keys(), published_keys(), recovery_keys(), serve_keys()})
        keys.insert(keys.end(), part.begin(), part.end());
    append_below(keys, failures_keys(), "failures");
    return keys;
}

}  // namespace windtunnel::input
