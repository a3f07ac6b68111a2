#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "windtunnel/train/memory.hpp"

namespace windtunnel::train {
namespace {

bool fits(const Job& job, const model::Layout& layout, const UnitCosts& costs) {
    return broken_rule(job, layout) == model::VerdictReason::fits &&
           fullest_stage(job, layout, costs).total <= usable_memory(job);
}

}  // namespace

model::Verdict memory_verdict(const Job& job, const model::Layout& layout, const UnitCosts& costs) {
    const FullestStage fullest = fullest_stage(job, layout, costs);
    const Bytes usable = usable_memory(job);
    model::Verdict verdict;
    if (fullest.total <= usable) return verdict;
    verdict.reason = model::VerdictReason::out_of_memory;
    verdict.stage = fullest.stage;
    verdict.missing = fullest.total - usable;
    verdict.detail = fmt::format("stage {} needs {:.2f} GiB of {:.2f} GiB that a card has to give, {:.2f} GiB too much",
                                 fullest.stage, fullest.total.value() / base::gib, usable.value() / base::gib,
                                 verdict.missing.value() / base::gib);
    return verdict;
}

int smallest_cards_that_fit(const Job& job, const model::Layout& layout) {
    const std::int64_t replica = layout.model_parallel();
    const std::int64_t experts =
        std::int64_t{layout.expert_tensor_parallel} * layout.expert_parallel * layout.pipeline_parallel;
    if (replica < 1 || experts < 1) return 0;
    const std::int64_t step = std::lcm(replica, experts);
    const UnitCosts costs = unit_costs(job, unit_key(layout));  // they do not depend on dp
    for (std::int64_t cards = step; cards <= job.cluster.num_cards(); cards += step) {
        model::Layout other = layout;
        other.cards = static_cast<int>(cards);
        // The batch is kept where it divides, else it becomes the nearest multiple.
        std::int64_t unit = std::int64_t{other.micro_batch_size} * other.data_parallel();
        const std::int64_t least = unit * other.least_micro_batches();
        unit *= other.micro_batch_multiple();
        if (unit < 1) return 0;
        if (other.global_batch_size % unit != 0)
            other.global_batch_size = std::max<std::int64_t>(1, (other.global_batch_size + unit / 2) / unit) * unit;
        other.global_batch_size = std::max(other.global_batch_size, least);
        if (fits(job, other, costs)) return other.cards;
    }
    return 0;
}

int largest_micro_batch_that_fits(const Job& job, const model::Layout& layout) {
    if (layout.model_parallel() < 1 || layout.data_parallel() < 1) return 0;
    const std::int64_t per_replica = layout.global_batch_size / layout.data_parallel();
    constexpr std::int64_t largest_tried = 4096;
    for (std::int64_t size = std::min(per_replica, largest_tried); size >= 1; --size) {
        if (per_replica % size != 0) continue;
        model::Layout other = layout;
        other.micro_batch_size = static_cast<int>(size);
        if (broken_rule(job, other) != model::VerdictReason::fits) continue;
        if (fits(job, other, unit_costs(job, unit_key(other)))) return other.micro_batch_size;
    }
    return 0;
}

}  // namespace windtunnel::train
