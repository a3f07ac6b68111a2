#include "windtunnel/train/rules.hpp"

#include <algorithm>

#include "windtunnel/base/contracts.hpp"
#include "windtunnel/model/layout_rules.hpp"

namespace windtunnel::train {
namespace {

using std::int64_t;

model::LayoutRules rules_of(const Job& job) noexcept {
    return {job.transformer, job.cluster, job.sequence_length, job.precision, job.methods};
}

/// Half-open range of layers, embedding and head flags of a chunk, before dense and MoE layers are told apart.
struct Range {
    int64_t first = 0, last = 0;
};

Range clamped(int64_t first, int64_t last, int64_t low, int64_t high) noexcept {
    return {std::clamp(first, low, high) - low, std::clamp(last, low, high) - low};
}

/// Layers with experts among the first `layers`.
int64_t moe_layers_before(const model::Transformer& transformer, int64_t layers) noexcept {
    if (!transformer.experts || layers <= transformer.num_dense_layers || transformer.moe_layer_step < 1) return 0;
    return (layers - transformer.num_dense_layers) / transformer.moe_layer_step;
}

Range layers_of_chunk(const model::Transformer& transformer, const model::Layout& layout, int index) noexcept {
    const int64_t chunks = int64_t{layout.pipeline_parallel} * layout.virtual_pipeline, layers = transformer.num_layers;
    switch (layout.split.kind) {
        case model::SplitKind::uniform:
            return {index * (layers / chunks), (index + 1) * (layers / chunks)};
        case model::SplitKind::slots: {
            const int64_t each = (layers + 2 + transformer.num_mtp_layers) / chunks;
            return clamped(index * each, (index + 1) * each, 1, layers + 1);
        }
        case model::SplitKind::short_last: {
            const int64_t each = (layers + chunks - 1) / chunks;
            return clamped(index * each, (index + 1) * each, 0, layers);
        }
        case model::SplitKind::explicit_chunks:
            break;
    }
    const std::vector<int>& list = layout.split.layers_per_chunk;
    int64_t first = 0;
    for (int before = 0; before < index; ++before) first += list[static_cast<std::size_t>(before)];
    return {first, first + list[static_cast<std::size_t>(index)]};
}

}  // namespace

model::VerdictReason broken_rule(const Job& job, const model::Layout& layout) noexcept {
    return rules_of(job).first_broken(layout);
}

model::Verdict rule_verdict(const Job& job, const model::Layout& layout) {
    const model::LayoutRules rules = rules_of(job);
    model::Verdict verdict;
    verdict.reason = rules.first_broken(layout);
    verdict.detail = rules.detail(layout, verdict.reason);
    return verdict;
}

ChunkLoad chunk_load(const model::Transformer& transformer, const model::Layout& layout, int index) noexcept {
    const int chunks = layout.pipeline_parallel * layout.virtual_pipeline;
    const Range layers = layers_of_chunk(transformer, layout, index);
    ChunkLoad load;
    load.moe_layers =
        static_cast<int>(moe_layers_before(transformer, layers.last) - moe_layers_before(transformer, layers.first));
    load.dense_layers = static_cast<int>(layers.last - layers.first) - load.moe_layers;
    load.embedding = index == 0;
    load.head = index == chunks - 1;
    load.mtp_layers = load.head ? transformer.num_mtp_layers : 0;
    if (layout.split.kind == model::SplitKind::slots) {
        const int64_t slots = int64_t{transformer.num_layers} + 2 + transformer.num_mtp_layers, each = slots / chunks;
        const Range mtp = clamped(index * each, (index + 1) * each, transformer.num_layers + 1, slots - 1);
        load.mtp_layers = static_cast<int>(mtp.last - mtp.first);
    }
    return load;
}

std::vector<ChunkLoad> pipeline_split(const model::Transformer& transformer, const model::Layout& layout) {
    const int chunks = layout.pipeline_parallel * layout.virtual_pipeline;
    base::expects(chunks >= 1, "a pipeline has a chunk");
    std::vector<ChunkLoad> loads;
    loads.reserve(static_cast<std::size_t>(chunks));
    for (int index = 0; index < chunks; ++index) loads.push_back(chunk_load(transformer, layout, index));
    return loads;
}

}  // namespace windtunnel::train
