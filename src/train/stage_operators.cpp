#include "windtunnel/train/stage_operators.hpp"

namespace windtunnel::train {
namespace {

class Collector {
public:
    Collector(const Job& job, const model::Layout& layout) : job_{job}, layout_{layout}, key_{unit_key(layout)} {}

    void add_block(int stage, BlockKind kind, double blocks, bool kept = false) {
        if (blocks <= 0.0) return;
        UnitKey key = key_;
        if (kept) key.recompute = model::Recompute::none;
        // A stage that both directions hold runs its micro-batches of one of them.
        const double runs = static_cast<double>(layout_.num_micro_batches()) / layout_.stage_copies();
        for (const Operator& one : block_graph(job_, key, kind).operators)
            list_.push_back({stage, to_text(kind), blocks, runs, one});
    }

    void add_chunk(int stage, const ChunkLoad& load, const UnitCosts& costs) {
        const LayerSplit layers = layer_split(load, costs);
        add_block(stage, BlockKind::embedding, load.embedding ? 1.0 : 0.0);
        add_block(stage, BlockKind::dense_layer, layers.dense);
        add_block(stage, BlockKind::dense_layer, layers.kept_dense, true);
        add_block(stage, BlockKind::moe_layer, layers.moe);
        add_block(stage, BlockKind::moe_layer, layers.kept_moe, true);
        if (load.mtp_layers > 0) {
            const bool moe = job_.transformer.num_moe_layers() > 0;
            add_block(stage, BlockKind::mtp_projection, load.mtp_layers);
            add_block(stage, moe ? BlockKind::moe_layer : BlockKind::dense_layer, load.mtp_layers);
            add_block(stage, BlockKind::head, load.mtp_layers);
        }
        add_block(stage, BlockKind::head, load.head ? 1.0 : 0.0);
    }

    void add_once(int stage, Operator one) {
        one.pass = Pass::step;
        if (one.time > Seconds{0.0}) list_.push_back({stage, "step", 1.0, 1.0, one});
    }

    [[nodiscard]] std::vector<StageOperator> take() && { return std::move(list_); }

private:
    const Job& job_;
    const model::Layout& layout_;
    UnitKey key_;
    std::vector<StageOperator> list_;
};

Operator transfer(const UnitCosts& costs, double count) {
    Operator one;
    one.name = "send_to_next_rank";
    one.kind = OperatorKind::collective;
    one.part = Part::pp_comm;
    one.unit = Unit::network;
    one.collective = CollectiveKind::transfer;
    one.group = GroupName::pipeline;
    one.group_size = 2;
    one.message = costs.boundary;
    one.shape = {1.0, costs.boundary.value() / 2.0, 0.0, 0.0};
    one.count = count;
    one.time = (costs.boundary_time + costs.blocked) * count;
    one.bound = Bound::link;
    return one;
}

Operator exchange(const Job& job, const HeldParameters& held, Seconds exposed) {
    Operator one;
    one.name = "exchange_gradients_and_weights";
    one.kind = OperatorKind::collective;
    one.part = Part::dp_comm;
    one.unit = Unit::network;
    one.collective = CollectiveKind::reduce_scatter;
    one.group = GroupName::data;
    one.precision = job.gradient_precision;
    one.shape = {1.0, held.dense + held.expert, 0.0, 0.0};
    one.message = Bytes{(held.dense + held.expert) * model::bytes_per_element(job.gradient_precision)};
    one.time = exposed;
    one.bound = Bound::link;
    return one;
}

Operator update(const Job& job, const HeldParameters& held, Seconds time) {
    Operator one;
    one.name = "optimizer";
    one.kind = OperatorKind::update;
    one.part = Part::optimizer;
    one.precision = model::Precision::fp32;
    one.shape = {1.0, held.dense + held.expert, 0.0, 0.0};
    one.bytes = time * (job.cluster.accelerator.memory_bandwidth * job.efficiency.memory);
    one.time = time;
    one.bound = job.methods.offload.optimizer > 0.0 ? Bound::link : Bound::memory;
    return one;
}

}  // namespace

std::vector<StageOperator> stage_operators(const Job& job, const model::Layout& layout, const UnitCosts& costs) {
    StageCosts stages;
    stage_costs(job, layout, costs, stages);
    const auto loads = pipeline_split(job.transformer, layout);
    const Pipeline pipeline = pipeline_of(job, layout);
    Collector collector{job, layout};
    for (int rank = 0; rank < pipeline.num_ranks; ++rank) {
        const auto r = static_cast<std::size_t>(rank);
        double transfers = 0.0;
        for (int chunk = 0; chunk < pipeline.num_chunks; ++chunk) {
            const ChunkLoad& load = loads[static_cast<std::size_t>(pipeline.stage_of(rank, chunk))];
            collector.add_chunk(rank, load, costs);
            transfers += (load.head ? 0.0 : 1.0) + (load.embedding ? 0.0 : 1.0);
        }
        transfers *= static_cast<double>(layout.num_micro_batches()) / layout.stage_copies();
        collector.add_once(rank, transfer(costs, transfers));
        collector.add_once(rank, exchange(job, stages.held[r], stages.exchange[r]));
        collector.add_once(rank, update(job, stages.held[r], stages.optimizer[r]));
    }
    return std::move(collector).take();
}

}  // namespace windtunnel::train
