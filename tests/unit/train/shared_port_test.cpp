#include "windtunnel/train/shared_port.hpp"

#include <gtest/gtest.h>

#include "windtunnel/train/step.hpp"

namespace windtunnel::train {
namespace {

/// 16 layers of width 4096 on cards in domains of 8; all of the exchange may hide.
Job job_with(bool shared_port) {
    Job job;
    job.transformer.num_layers = 16;
    job.transformer.num_dense_layers = 16;
    job.transformer.hidden = 4096;
    job.transformer.ffn = 4 * 4096;
    job.transformer.attention = {model::AttentionKind::mha, 32, 32, 128};
    job.transformer.vocabulary = 51200;
    job.sequence_length = 2048;
    model::Accelerator& card = job.cluster.accelerator;
    card.matrix_peak[static_cast<std::size_t>(model::Precision::bf16)] = FlopsPerSecond{312e12};
    card.memory = Bytes{80.0 * base::gib};
    card.memory_bandwidth = BytesPerSecond{2e12};
    card.scale_up.bandwidth = BytesPerSecond{300e9};
    card.scale_up_domain = 8;
    card.scale_out.bandwidth = BytesPerSecond{25e9};
    card.scale_out.shared_port = shared_port;
    card.cards_per_node = 8;
    job.cluster.num_nodes = 32;
    job.efficiency.scale_out_hidden = 0.999;
    return job;
}

model::Layout layout_of(int tensor_parallel) {
    model::Layout layout;
    layout.cards = 128;
    layout.tensor_parallel = tensor_parallel;
    layout.pipeline_parallel = 2;
    layout.global_batch_size = 64;
    return layout;
}

StageCosts costs_of(const Job& job, const model::Layout& layout) {
    StageCosts stages;
    stage_costs(job, layout, unit_costs(job, unit_key(layout)), stages);
    return stages;
}

// Tensor groups of 16 leave their domain of 8: the windows lose what tensor communication takes, and the exchange
// shows.
TEST(SharedPort, IsLeftToGroupsThatLeaveTheirDomain) {
    const model::Layout layout = layout_of(16);
    const Job job = job_with(true);
    const StageCosts alone = costs_of(job_with(false), layout), shared = costs_of(job, layout);
    const UnitCosts costs = unit_costs(job, unit_key(layout));
    for (std::size_t rank = 0; rank < 2; ++rank) {
        const ChunkLoad load = chunk_load(job.transformer, layout, static_cast<int>(rank));
        const double held = chunk_backward_parts(load, costs)[Part::tp_comm].value();
        EXPECT_GT(held, 0.0);
        EXPECT_NEAR((alone.windows[rank].backward - shared.windows[rank].backward).value(), held, 1e-12);
        EXPECT_GE(shared.exchange[rank], alone.exchange[rank]);
    }
    EXPECT_GT(shared.exchange[0] + shared.exchange[1], alone.exchange[0] + alone.exchange[1]);
}

TEST(SharedPort, IsFreeWhereGroupsStayInTheirDomain) {
    const model::Layout layout = layout_of(8);
    EXPECT_EQ(step_time(job_with(true), layout, unit_costs(job_with(true), unit_key(layout))),
              step_time(job_with(false), layout, unit_costs(job_with(false), unit_key(layout))));
}

// The whole chain: leaves of 4 nodes at 8:1 slow the exchange of a job, logarithmic algorithms more than the ring.
TEST(OversubscribedLeaves, SlowTheExchangeOfAJob) {
    const model::Layout layout = layout_of(8);
    const auto time = [&](model::CollectiveAlgorithm algorithm, double oversubscription) {
        Job job = job_with(false);
        job.cluster.accelerator.scale_out.algorithm = algorithm;
        job.cluster.accelerator.scale_out.leaf_cards = 32;
        job.cluster.accelerator.scale_out.oversubscription = oversubscription;
        job.efficiency.scale_out_hidden = 0.0;
        return step_time(job, layout, unit_costs(job, unit_key(layout)));
    };
    using enum model::CollectiveAlgorithm;
    EXPECT_GT(time(ring, 8.0), time(ring, 1.0));
    EXPECT_GT(time(nb, 8.0), time(ring, 8.0));
    EXPECT_LE(time(automatic, 8.0), time(ring, 8.0));
}

}  // namespace
}  // namespace windtunnel::train
