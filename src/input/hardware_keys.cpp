// clang-format off: one key per line
#include "key_tables.hpp"
#include "windtunnel/model/collectives.hpp"

namespace windtunnel::input {
namespace {

constexpr Range flops{0, 1e21, true}, bandwidth{0, 1e18, true}, latency{0, 1.0};

std::vector<std::string> algorithm_words() {
    return {model::collective_algorithm_names.begin(), model::collective_algorithm_names.end()};
}

}  // namespace

std::vector<Key> accelerator_keys() {
    using enum KeyKind;
    return {
        {"id", text, "required", "name of the card"},
        {"vendor", text, "\"\"", "who makes it"},
        {"matrix_peak.fp32", quantity, "none",
         "dense matrix peak; a precision that is left out does not exist on the card", "19.5 TFLOP/s", flops},
        {"matrix_peak.tf32", quantity, "none", "dense matrix peak in tf32", "156 TFLOP/s", flops},
        {"matrix_peak.fp16", quantity, "none", "dense matrix peak in fp16", "312 TFLOP/s", flops},
        {"matrix_peak.bf16", quantity, "none", "dense matrix peak in bf16", "312 TFLOP/s", flops},
        {"matrix_peak.fp8", quantity, "none", "dense matrix peak in fp8", "1979 TFLOP/s", flops},
        {"matrix_peak.mxfp8", quantity, "none", "dense matrix peak in mxfp8; falls back to fp8", "4500 TFLOP/s", flops},
        {"matrix_peak.nvfp4", quantity, "none", "dense matrix peak in nvfp4", "9000 TFLOP/s", flops},
        {"matrix_peak.int8", quantity, "none", "dense matrix peak in int8", "624 TFLOP/s", flops},
        {"vector_peak", quantity, "none", "peak of the vector units; without it vector operators are bound by memory",
         "19.5 TFLOP/s", flops},
        {"memory", quantity, "required", "memory of a card, as the card reports it", "64 GiB", {1e6, 1e18}},
        {"memory_bandwidth", quantity, "required", "bandwidth of that memory", "1.6 TB/s", bandwidth},
        {"cards_per_node", integer, "required", "cards in one server", "", {1, 1024}},
        {"scale_up.kind", text, "\"\"", "name of the link inside a domain: NVLink4, HCCS, ..."},
        {"scale_up.bandwidth", quantity, "required", "per card and direction, inside a domain", "450 GB/s", bandwidth},
        {"scale_up.latency", quantity, "required", "start-up time of a message inside a domain", "10 us", latency},
        {"scale_up.domain", integer, "required", "cards in a domain: node, NVLink rack, supernode", "", {1, 1'000'000}},
        {"scale_out.kind", text, "\"\"", "name of the network between domains: InfiniBand, RoCE, ..."},
        {"scale_out.bandwidth", quantity, "required", "per card and direction, between domains", "400 Gbit/s",
         bandwidth},
        {"scale_out.latency", quantity, "required", "start-up time of a message between domains", "20 us", latency},
        {"scale_up.algorithm", word, "\"ring\"",
         "of collectives inside a domain; automatic: the cheapest for each message and group", "", {}, algorithm_words()},
        {"scale_out.algorithm", word, "\"ring\"", "of collectives between domains", "", {}, algorithm_words()},
        {"on_chip.cores", integer, "0", "matrix cores of a die; 0: not known", "", {0, 100'000}},
        {"on_chip.vector_cores", integer, "0", "vector cores of a die", "", {0, 100'000}},
        {"on_chip.clock", quantity, "none", "clock of the matrix cores", "1.8 GHz", {0, 1e12, true}},
        {"on_chip.flops_per_cycle", number, "0", "16-bit operations of a matrix core in a cycle", "", {0, 1e9}},
        {"on_chip.l2", quantity, "none", "second-level cache of the die", "192 MiB", {0, 1e15, true}},
        {"on_chip.l2_bandwidth", quantity, "none", "its bandwidth; without it it is no bound", "5 TB/s", bandwidth},
        {"on_chip.l1", quantity, "none", "buffer of a matrix core", "512 KiB", {0, 1e15, true}},
        {"on_chip.l0a", quantity, "none", "left operand's buffer of a matrix core", "64 KiB", {0, 1e15, true}},
        {"on_chip.l0b", quantity, "none", "right operand's buffer", "64 KiB", {0, 1e15, true}},
        {"on_chip.l0c", quantity, "none", "sums of a matrix core", "128 KiB", {0, 1e15, true}},
        {"on_chip.unified_buffer", quantity, "none", "buffer of a vector core", "192 KiB", {0, 1e15, true}},
        {"power", quantity, "none", "board power; without it no energy is printed", "700 W", {0, 1e6, true}},
        {"calibration", path, "none", "calibration file that plans use unless they name their own"},
        {"calibration_moe", path, "none", "the same for models with experts; default: calibration"},
    };
}

std::vector<Key> cluster_keys() {
    using enum KeyKind;
    return {
        {"id", text, "\"\"", "name of the cluster"},
        {"accelerator", path, "required", "accelerator file"},
        {"nodes", integer, "none", "number of servers; give this or cards", "", {1, most_cards}},
        {"cards", integer, "none", "number of cards; give this or nodes", "", {1, most_cards}},
        {"cards_per_node", integer, "none", "instead of the accelerator's", "", {1, 1024}},
        {"scale_up.bandwidth", quantity, "none", "instead of the accelerator's, per card and direction", "450 GB/s",
         bandwidth},
        {"scale_up.latency", quantity, "none", "instead of the accelerator's", "10 us", latency},
        {"scale_up.domain", integer, "none", "instead of the accelerator's: cards in a domain", "", {1, 1'000'000}},
        {"scale_out.bandwidth", quantity, "none", "instead of the accelerator's, per card and direction", "400 Gbit/s",
         bandwidth},
        {"scale_out.latency", quantity, "none", "instead of the accelerator's", "20 us", latency},
        {"scale_up.algorithm", word, "none", "instead of the accelerator's: algorithm of collectives inside a domain",
         "", {}, algorithm_words()},
        {"scale_out.algorithm", word, "none", "instead of the accelerator's: algorithm of collectives between domains",
         "", {}, algorithm_words()},
        {"scale_out.leaf_cards", integer, "0",
         "cards under a leaf switch between domains; 0: a fabric without leaves", "", {0, 1'000'000}},
        {"scale_out.oversubscription", number, "1",
         "card ports of a leaf over its uplinks; groups that cross leaves at once share the uplinks", "", {1, 1000}},
        {"scale_out.shared_port", boolean, "false",
         "the exchange of gradients hides only while no other group of the card uses its port between domains"},
    };
}

std::vector<Key> failures_keys() {
    using enum KeyKind;
    return {
        {"component", tables, "none", "classes of equal components; or variants, not both"},
        {"component[].name", text, "required", "name of the class"},
        {"component[].count_per",
         word,
         "required",
         "what one member belongs to",
         "",
         {},
         {"card", "node", "switch", "job"}},
        {"component[].count_multiple", number, "1", "members per card, node, switch or job", "", {0, 1e6, true}},
        {"component[].up", law, "required", "time to failure of one member"},
        {"component[].repair", law, "required", "time until the member, or its node, can be used again"},
        {"component[].effect", word, "\"stops\"", "what a failure does to the job", "", {}, {"stops", "slows", "none"}},
        {"component[].slow_factor", number, "1", "effect slows: the step takes this many times as long", "", {1, 1e6}},
        {"component[].takes_node", boolean, "true",
         "the node is out of service until repaired; else the job restarts in place"},
        {"variant", tables, "none", "alternative whole-job failure processes: the answer is a band"},
        {"variant[].name", text, "required", "name of the variant"},
        {"variant[].up", law, "required", "time between failures of the job at reference_nodes"},
        {"variant[].scales_with_nodes", boolean, "true", "the rate grows with the nodes of the job"},
        {"variant[].reference_nodes", integer, "1", "nodes of the job that `up` was seen on", "", {1, most_cards}},
        {"variant[].repair", law, "required", "time until the node that was taken out can be used again"},
        {"variant[].takes_node", boolean, "true", "a failure takes a node out of service"},
    };
}

std::vector<Key> calibration_keys() {
    using enum KeyKind;
    const Range fraction{0, 1, true}, hidden{0, 1, false, true}, shortly{0, 3600};
    const Range bound{0, 2e9};
    return {
        {"name", text, "required", "name of the set"},
        {"version", text, "\"\"", "version of the set"},
        {"evidence",
         word,
         "\"assumed\"",
         "weakest tag of its numbers; every prediction carries it",
         "",
         {},
         {"measured", "fitted", "assumed", "first_principles"}},
        {"gemm", number, "0.75", "plateau of a large matrix product, fraction of the dense peak", "", fraction},
        {"gemm_half_size",
         number,
         "128",
         "inner dimension of a product on a card at which half of the plateau is left, elements",
         "",
         {0, 1e6}},
        {"attention", number, "0.45", "causal flash attention at head size 128, fraction of the bf16 peak", "",
         fraction},
        {"grouped_gemm", number, "0.9", "grouped matrix product of the experts relative to a dense one", "", fraction},
        {"memory", number, "0.7", "fraction of the memory bandwidth that streaming operators reach", "", fraction},
        {"scale_up", number, "0.75", "fraction of the scale-up bandwidth that a large collective reaches", "",
         fraction},
        {"scale_out", number, "0.8", "the same for scale-out", "", fraction},
        {"scale_up_hidden", number, "0", "share of tensor- and expert-parallel communication hidden under compute", "",
         hidden},
        {"scale_out_hidden", number, "0.5", "share of gradient and parameter exchange hidden under compute", "",
         hidden},
        {"kernel_launch", quantity, "\"5 us\"", "per kernel on the critical stream", "5 us", shortly},
        {"host_per_layer_pass", quantity, "\"0 s\"", "least time of one layer and pass that the host needs to issue it",
         "1.1 ms", shortly},
        {"moe_routing", quantity, "\"60 us\"", "routing and permutation set-up of a MoE layer and pass", "60 us",
         shortly},
        {"fixed_per_step", quantity, "\"20 ms\"", "data loader, logging, clipping and host work, once a step", "20 ms",
         shortly},
        {"low_precision_cast",
         number,
         "1",
         "multiplier of the bytes moved to cast inputs to 8 bit or less",
         "",
         {0, 100}},
        {"memory_context",
         quantity,
         "\"5 GB\"",
         "runtime context, communication buffers and workspace of a card",
         "5 GB",
         {0, 1e15}},
        {"memory_fragmentation", number, "0.02", "allocator loss, fraction of states and activations", "", {0, 1}},
        {"release", tables, "none", "releases of the software that the fit tells apart, oldest first"},
        {"release[].name", text, "required", "year and month of the release, for example \"26.04\""},
        {"release[].factor", number, "1", "time of a layer relative to the average of the fit", "", {0.1, 10}},
        {"fitted_min_cards", integer, "0", "range of the rows behind the fit: cards", "", bound},
        {"fitted_max_cards", integer, "0", "the same, upper end; 0: no range", "", bound},
        {"fitted_min_hidden", integer, "0", "range of the rows behind the fit: hidden size", "", bound},
        {"fitted_max_hidden", integer, "0", "the same, upper end; 0: no range", "", bound},
        {"fitted_min_sequence", integer, "0", "range of the rows behind the fit: sequence length", "", bound},
        {"fitted_max_sequence", integer, "0", "the same, upper end; 0: no range", "", bound},
        {"fitted_models",
         word,
         "\"any\"",
         "models of the rows behind the fit; for others the error of the step time is not known",
         "",
         {},
         {"any", "dense", "moe"}},
        {"step_time_error_90",
         number,
         "0",
         "half-width of the 90 % interval of step time on rows that were not fitted, relative; 0: unknown",
         "",
         {0, 10}},
    };
}

}  // namespace windtunnel::input
