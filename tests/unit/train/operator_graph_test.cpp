#include <gtest/gtest.h>

#include "train_examples.hpp"
#include "windtunnel/train/block_graph.hpp"
#include "windtunnel/train/task_graph.hpp"

namespace windtunnel::train {
namespace {

constexpr double rounding = 1e-12;

struct Example {
    const char* name;
    Job job;
    UnitKey key;
};

/// Dense, grouped queries, latent attention, experts with shared ones, sliding windows; every recompute; 16 and 8 bit.
std::vector<Example> examples() {
    std::vector<Example> all;
    UnitKey plain;
    UnitKey split = plain;
    split.tensor_parallel = 4;
    split.pipelined = true;
    UnitKey no_sequence = split;
    no_sequence.sequence_parallel = false;
    UnitKey context = split;
    context.context_parallel = 2;
    UnitKey experts = split;
    experts.expert_parallel = 8;
    experts.expert_tensor_parallel = 2;
    Job window = test::job(test::llama3_70b(), test::h100(), 64, 8192);
    window.transformer.attention.sliding_window = 1024;
    window.transformer.attention.num_sliding_layers = 40;
    Job narrow = test::job(test::pangu_ultra_moe_718b(), test::h100(), 512, 4096);
    narrow.cluster.accelerator.matrix_peak[static_cast<std::size_t>(model::Precision::fp8)] = FlopsPerSecond{1979e12};
    narrow.precision = model::Precision::fp8;
    narrow.efficiency.scale_up_hidden = 0.3;
    narrow.efficiency.release_factor = 1.25;
    narrow.methods.expert_imbalance = 1.3;
    Job stored = test::job(test::gpt(24, 4096, 32), test::a100(), 8, 2048);
    stored.flash_attention = stored.fused_operators = false;
    Job slow_host = test::job(test::gpt(24, 1024, 16), test::a100(), 8, 512);
    slow_host.methods.host.launch = Seconds{30e-6};
    for (const auto recompute : {model::Recompute::none, model::Recompute::selective, model::Recompute::full}) {
        const auto with = [recompute](UnitKey key) {
            key.recompute = recompute;
            return key;
        };
        all.push_back({"dense", test::job(test::gpt(24, 4096, 32), test::a100(), 8, 2048), with(plain)});
        all.push_back({"stored scores", stored, with(no_sequence)});
        all.push_back({"grouped queries", test::job(test::llama3_70b(), test::h100(), 64, 8192), with(context)});
        all.push_back({"sliding window", window, with(split)});
        all.push_back(
            {"experts", test::job(test::pangu_ultra_moe_718b(), test::ascend_910b(), 512, 8192), with(experts)});
        all.push_back({"8 bit", narrow, with(experts)});
        all.push_back({"slow host", slow_host, with(plain)});
    }
    return all;
}

std::vector<std::pair<BlockKind, BlockCost>> blocks_of(const Example& example) {
    const UnitCosts costs = unit_costs(example.job, example.key);
    std::vector<std::pair<BlockKind, BlockCost>> blocks{{BlockKind::embedding, costs.embedding},
                                                        {BlockKind::head, costs.head}};
    if (example.job.transformer.num_moe_layers() < example.job.transformer.num_layers)
        blocks.emplace_back(BlockKind::dense_layer, costs.dense_layer);
    if (example.job.transformer.num_moe_layers() > 0) blocks.emplace_back(BlockKind::moe_layer, costs.moe_layer);
    return blocks;
}

TEST(OperatorGraph, ItsStaticScanIsTheCostOfTheBlock) {
    for (const Example& example : examples())
        for (const auto& [kind, cost] : blocks_of(example)) {
            const OperatorScan scan = static_scan(block_graph(example.job, example.key, kind));
            const auto of = [&scan](Pass pass) { return scan.times[static_cast<std::size_t>(pass)]; };
            const std::string where = std::string{example.name} + ", " + to_text(kind);
            for (int part = 0; part < num_parts; ++part) {
                const auto p = static_cast<Part>(part);
                const auto near = [&](Seconds scanned, Seconds summed) {
                    EXPECT_NEAR(scanned.value(), summed.value(), rounding * (summed.value() + 1e-9))
                        << where << ", " << to_text(p);
                };
                near(of(Pass::forward)[p], cost.forward[p]);
                near(of(Pass::backward_weight)[p], cost.backward_weight[p]);
                if (p == Part::recompute)
                    near(of(Pass::recompute).total(), cost.backward_input[p]);
                else
                    near(of(Pass::backward_input)[p], cost.backward_input[p]);
            }
            EXPECT_NEAR(scan.parameters, cost.parameters, 1e-6) << where;
            EXPECT_NEAR(scan.expert_parameters, cost.expert_parameters, 1e-6) << where;
            if (example.key.recompute == model::Recompute::none) {
                EXPECT_NEAR(scan.activations.value(), cost.activations.value(), 1.0) << where;
            }
        }
}

TEST(OperatorGraph, ItsWorkIsThreeTimesThatOfTheForwardPass) {
    // Balanced experts: model FLOPs of the block = forward + two gradients.
    const Job job = test::job(test::pangu_ultra_moe_718b(), test::ascend_910b(), 512, 8192);
    UnitKey key;
    key.tensor_parallel = 8;
    key.expert_parallel = 8;
    const UnitCosts costs = unit_costs(job, key);
    EXPECT_NEAR(static_scan(block_graph(job, key, BlockKind::moe_layer)).matrix_flops / costs.moe_layer.model_flops,
                1.0, rounding);
    EXPECT_NEAR(static_scan(block_graph(job, key, BlockKind::head)).matrix_flops / costs.head.model_flops, 1.0,
                rounding);
}

TEST(OperatorGraph, OnSerialStreamsItTakesTheTimeOfTheBlock) {
    for (const Example& example : examples())
        for (const auto& [kind, cost] : blocks_of(example)) {
            StreamRules rules;
            rules.serial = true;
            const OperatorRun run = simulate(block_graph(example.job, example.key, kind), rules);
            const Seconds block = cost.forward.total() + cost.backward_input.total() + cost.backward_weight.total();
            EXPECT_NEAR(run.makespan / block, 1.0, rounding) << example.name << ", " << to_text(kind);
        }
}

TEST(OperatorGraph, WithoutLimitsOnSpeedItRunsAsItsTaskGraph) {
    for (const Example& example : examples())
        for (const auto& [kind, cost] : blocks_of(example)) {
            static_cast<void>(cost);
            const OperatorGraph graph = block_graph(example.job, example.key, kind);
            const StreamRules rules;
            TaskGraph tasks{num_streams};
            for (const Operator& one : graph.operators)
                tasks.add_task(static_cast<StreamIndex>(stream_of(one, rules)), one.duration());
            for (const OperatorGraph::Edge& edge : graph.edges) tasks.add_dependency(edge.before, edge.after);
            const Execution twin = execute(tasks);
            const OperatorRun run = simulate(graph, rules);
            EXPECT_FALSE(twin.deadlock);
            EXPECT_NEAR(run.makespan / twin.makespan, 1.0, 1e-9) << example.name << ", " << to_text(kind);
            EXPECT_NEAR(run.critical_path / twin.critical_path, 1.0, 1e-9);
            for (std::size_t i = 0; i < graph.operators.size(); ++i)
                EXPECT_NEAR(run.start[i].value(), twin.start[i].value(), 1e-9 * run.makespan.value());
        }
}

Operator compute(double seconds) {
    Operator one;
    one.kind = OperatorKind::product;
    one.unit = Unit::matrix;
    one.time = Seconds{seconds};
    return one;
}

Operator gather(double seconds) {
    Operator one;
    one.kind = OperatorKind::collective;
    one.unit = Unit::network;
    one.collective = CollectiveKind::all_gather;
    one.group = GroupName::tensor;
    one.time = Seconds{seconds};
    return one;
}

TEST(OperatorRun, CommunicationAndComputeSlowEachOther) {
    // 10 s of compute at 0.8 and 4 s of communication at 0.5 begin together: communication ends at 8 s, when compute
    // has done 6.4 of 10; the rest takes 3.6 s at full speed.
    OperatorGraph graph{{compute(10.0), gather(4.0)}, {}};
    StreamRules rules;
    rules.compute_rate = 0.8;
    rules.communication_rate = 0.5;
    const OperatorRun run = simulate(graph, rules);
    EXPECT_NEAR(run.end[1].value(), 8.0, rounding);
    EXPECT_NEAR(run.makespan.value(), 11.6, 1e-9);
    EXPECT_NEAR(run.critical_path.value(), 10.0, rounding);
}

TEST(OperatorRun, ChunksHideTheCommunicationOfAProduct) {
    // Makespan of compute C and communication M in c pieces: C/c + M/c + (c - 1) max(C, M)/c. 10 ms each, 5 pieces:
    // 2 + 2 + 4 x 2 = 12 ms, against 20 ms one after the other.
    OperatorGraph graph{{gather(10e-3), compute(10e-3)}, {{0, 1}}};
    graph.operators[0].piece = graph.operators[1].piece = Seconds{2e-3};
    EXPECT_NEAR(simulate(graph, {}).makespan.value(), 20e-3, rounding);
    EXPECT_NEAR(simulate(cut_into_chunks(graph, 5), {}).makespan.value(), 12e-3, rounding);
}

TEST(OperatorRun, TheHostBoundsSmallKernels) {
    // 1,000 kernels, 10 us to issue and 6 us to run: n h + d = 10.006 ms. As one graph of 0.6 ms: 0.6 + 1,000 x 6 us
    // = 6.6 ms. Kernels of 20 us: h + n d = 20.01 ms.
    OperatorGraph graph;
    for (OperatorIndex i = 0; i < 1000; ++i) {
        graph.operators.push_back(compute(6e-6));
        if (i > 0) graph.edges.push_back({i - 1, i});
    }
    StreamRules rules;
    rules.host_launch = Seconds{10e-6};
    EXPECT_NEAR(simulate(graph, rules).makespan.value(), 10.006e-3, 1e-12);
    rules.graph = true;
    rules.graph_launch = Seconds{0.6e-3};
    EXPECT_NEAR(simulate(graph, rules).makespan.value(), 6.6e-3, 1e-12);
    rules.graph = false;
    for (Operator& one : graph.operators) one.time = Seconds{20e-6};
    EXPECT_NEAR(simulate(graph, rules).makespan.value(), 20.01e-3, 1e-12);
}

TEST(OperatorGraph, WeightGradientsRunUnderTheCommunicationOfTheirLayer) {
    // All communication exposed forward; backward the scatter of input gradients runs beside the weight gradient.
    Job job = test::job(test::gpt(24, 8192, 64), test::a100(), 8, 2048);
    UnitKey key;
    key.tensor_parallel = 8;
    key.micro_batch_size = 8;
    const UnitCosts serial = unit_costs(job, key);
    job.methods.overlap.operators = true;
    const UnitCosts by_graph = unit_costs(job, key);
    EXPECT_NEAR(by_graph.dense_layer.forward.total() / serial.dense_layer.forward.total(), 1.0, 1e-9);
    EXPECT_LT(by_graph.dense_layer.backward_input[Part::tp_comm], serial.dense_layer.backward_input[Part::tp_comm]);
    EXPECT_GT(by_graph.dense_layer.backward_input[Part::tp_comm].value(), 0.0);
    EXPECT_EQ(by_graph.dense_layer.backward_weight.total(), serial.dense_layer.backward_weight.total());
    job.methods.overlap.chunks = 4;
    const UnitCosts cut = unit_costs(job, key);
    EXPECT_LT(cut.dense_layer.forward[Part::tp_comm], 0.6 * by_graph.dense_layer.forward[Part::tp_comm]);
    job.methods.overlap.compute_rate = 0.7;
    EXPECT_GT(unit_costs(job, key).dense_layer.forward[Part::tp_comm], cut.dense_layer.forward[Part::tp_comm]);
}

TEST(OperatorGraph, SharedExpertsHideTheExchangeOfTheOthers) {
    Job job = test::job(test::pangu_ultra_moe_718b(), test::ascend_910b(), 512, 8192);
    UnitKey key;
    key.expert_parallel = 32;
    const UnitCosts serial = unit_costs(job, key);
    job.methods.overlap.operators = true;
    const UnitCosts by_graph = unit_costs(job, key);
    EXPECT_LT(by_graph.moe_layer.forward[Part::ep_comm], serial.moe_layer.forward[Part::ep_comm]);
    // Nothing beside the compute is hidden, and all compute stays.
    EXPECT_EQ(by_graph.moe_layer.forward[Part::gemm], serial.moe_layer.forward[Part::gemm]);
}

}  // namespace
}  // namespace windtunnel::train
