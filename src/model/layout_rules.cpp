#include "windtunnel/model/layout_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace windtunnel::model {
namespace {

using std::int64_t;

bool divides(int64_t divisor, int64_t number) noexcept {
    return divisor > 0 && number % divisor == 0;
}

bool divides_cards(const Layout& layout) noexcept {
    return divides(layout.model_parallel(), layout.cards);
}

/// Sequences that one micro-batch of every replica takes.
int64_t batch_unit(const Layout& layout) noexcept {
    return int64_t{layout.micro_batch_size} * layout.data_parallel();
}

bool batch_divides(const Layout& layout) noexcept {
    return divides_cards(layout) && layout.data_parallel() > 0 && divides(batch_unit(layout), layout.global_batch_size);
}

/// Heads that a rank of the all-to-all of context parallelism has, before it is split.
bool heads_exchange(const Transformer& transformer, const TrainingMethods& methods, const Layout& layout) noexcept {
    const int64_t ranks = methods.all_to_all_ranks(layout.context_parallel);
    if (layout.context_parallel == 1 || ranks == 1) return true;
    return divides(ranks, layout.context_parallel) &&
           divides(int64_t{layout.tensor_parallel} * ranks, transformer.attention.num_heads);
}

/// Ranks over which the states of a stage are shared out, and how often the shard group goes into them.
bool shard_groups_fit(const TrainingMethods& methods, const Layout& layout) noexcept {
    if (methods.shard_group == 0 || layout.optimizer_sharding == 0) return true;
    return !divides_cards(layout) ||
           divides(methods.shard_group, int64_t{layout.data_parallel()} * layout.context_parallel);
}

bool has_kv_groups(const Attention& attention) noexcept {
    return attention.kind == AttentionKind::gqa || attention.kind == AttentionKind::mqa;
}

int64_t num_chunks(const Layout& layout) noexcept {
    return int64_t{layout.pipeline_parallel} * layout.virtual_pipeline;
}

/// Layers plus what `slots` counts as a layer: embedding, head and each MTP module.
int64_t num_slots(const Transformer& transformer) noexcept {
    return int64_t{transformer.num_layers} + 2 + transformer.num_mtp_layers;
}

bool split_is_even(const Transformer& transformer, const Layout& layout) noexcept {
    const int64_t chunks = num_chunks(layout), layers = transformer.num_layers;
    if (chunks < 1) return false;
    switch (layout.split.kind) {
        case SplitKind::uniform:
            return layers % chunks == 0;
        case SplitKind::slots:
            return num_slots(transformer) % chunks == 0;
        case SplitKind::short_last: {
            const int64_t each = (layers + chunks - 1) / chunks;
            return layers - (chunks - 1) * each >= 1;
        }
        case SplitKind::explicit_chunks:
            break;
    }
    int64_t sum = 0;
    for (const int in_chunk : layout.split.layers_per_chunk) {
        if (in_chunk < 0) return false;
        sum += in_chunk;
    }
    return static_cast<int64_t>(layout.split.layers_per_chunk.size()) == chunks && sum == layers;
}

bool ffn_splits(const Transformer& transformer, const Layout& layout) noexcept {
    const bool has_dense = transformer.ffn > 0 && (!transformer.experts || transformer.num_dense_layers > 0);
    if (has_dense && !divides(layout.tensor_parallel, transformer.ffn)) return false;
    if (!transformer.experts) return true;
    return divides(layout.tensor_parallel, transformer.experts->shared_ffn) &&
           divides(layout.expert_tensor_parallel, transformer.experts->ffn);
}

bool sequence_splits(int sequence_length, const Layout& layout) noexcept {
    const int64_t cp = layout.context_parallel;
    if (cp > 1 && !divides(2 * cp, sequence_length)) return false;
    return !layout.sequence_parallel || layout.tensor_parallel == 1 ||
           divides(layout.tensor_parallel, sequence_length / std::max<int64_t>(cp, 1));
}

std::string listed(const std::vector<int64_t>& choices) {
    return choices.empty() ? std::string{"none"} : fmt::format("{}", fmt::join(choices, ", "));
}

/// Three multiples of `unit` around `value`, all positive.
std::vector<int64_t> near_multiples(int64_t unit, int64_t value) {
    if (unit < 1) return {};
    const int64_t below = std::max<int64_t>(value / unit, 1);
    return {below * unit, (below + 1) * unit, (below + 2) * unit};
}

}  // namespace

std::int64_t padded_vocabulary(const Transformer& transformer, int tensor_parallel) noexcept {
    if (transformer.padded_vocabulary > 0) return transformer.padded_vocabulary;
    const int64_t unit = 128 * int64_t{std::max(tensor_parallel, 1)};
    return (int64_t{transformer.vocabulary} + unit - 1) / unit * unit;
}

std::vector<std::int64_t> divisors(std::int64_t number, std::int64_t most) {
    std::vector<int64_t> low, high;
    for (int64_t d = 1; d * d <= number; ++d) {
        if (number % d != 0) continue;
        if (d <= most) low.push_back(d);
        if (number / d != d && number / d <= most) high.push_back(number / d);
    }
    low.insert(low.end(), high.rbegin(), high.rend());
    return low;
}

std::vector<std::int64_t> nearest_choices(const std::vector<std::int64_t>& choices, std::int64_t value, int count) {
    std::vector<int64_t> near = choices;
    const auto distance = [value](int64_t choice) { return choice > value ? choice - value : value - choice; };
    std::stable_sort(near.begin(), near.end(), [&](int64_t a, int64_t b) { return distance(a) < distance(b); });
    near.resize(std::min(near.size(), static_cast<std::size_t>(std::max(count, 0))));
    std::sort(near.begin(), near.end());
    return near;
}

bool LayoutRules::breaks(const Layout& layout, VerdictReason rule) const noexcept {
    switch (rule) {
        case VerdictReason::more_cards_than_cluster:
            return layout.cards > cluster.num_cards();
        case VerdictReason::world_size_not_divisible:
            return !divides_cards(layout) || !shard_groups_fit(methods, layout);
        case VerdictReason::expert_groups_not_divisible:
            if (layout.expert_parallel == 1 && layout.expert_tensor_parallel == 1) return false;
            return !divides(int64_t{layout.expert_tensor_parallel} * layout.expert_parallel * layout.pipeline_parallel,
                            layout.cards);
        case VerdictReason::heads_not_divisible:
            return !divides(layout.tensor_parallel, transformer.attention.num_heads);
        case VerdictReason::kv_heads_not_divisible:
            return has_kv_groups(transformer.attention) &&
                   !divides(layout.tensor_parallel, transformer.attention.num_kv_heads) &&
                   !divides(transformer.attention.num_kv_heads, layout.tensor_parallel);
        case VerdictReason::ffn_not_divisible:
            return !ffn_splits(transformer, layout);
        case VerdictReason::experts_not_divisible:
            return transformer.experts && !divides(layout.expert_parallel, transformer.experts->num_routed);
        case VerdictReason::experts_without_moe:
            return !transformer.experts && (layout.expert_parallel > 1 || layout.expert_tensor_parallel > 1);
        case VerdictReason::vocabulary_not_divisible:
            return transformer.padded_vocabulary > 0 &&
                   (transformer.padded_vocabulary < transformer.vocabulary ||
                    !divides(layout.tensor_parallel, transformer.padded_vocabulary));
        case VerdictReason::layers_not_divisible:
            return !split_is_even(transformer, layout);
        case VerdictReason::virtual_stages_without_interleaving:
            if (is_v_shaped(layout.schedule)) return layout.virtual_pipeline != 2 || layout.pipeline_parallel < 2;
            if (layout.schedule != PipelineSchedule::interleaved) return layout.virtual_pipeline > 1;
            return layout.virtual_pipeline < 2 || layout.pipeline_parallel < 2;
        case VerdictReason::odd_pipeline:
            return layout.schedule == PipelineSchedule::dualpipe && !divides(2, layout.pipeline_parallel);
        case VerdictReason::micro_batches_not_divisible:
            return batch_divides(layout) && layout.num_micro_batches() > 0 &&
                   (!divides(layout.micro_batch_multiple(), layout.num_micro_batches()) ||
                    layout.num_micro_batches() < layout.least_micro_batches());
        case VerdictReason::batch_not_divisible:
            return divides_cards(layout) && (!batch_divides(layout) || layout.num_micro_batches() < 1);
        case VerdictReason::sequence_not_divisible:
            return !sequence_splits(sequence_length, layout) || !heads_exchange(transformer, methods, layout);
        case VerdictReason::sharding_not_supported:
            return layout.optimizer_sharding >= 2 && layout.pipeline_parallel > 1;
        case VerdictReason::precision_not_supported:
            return !(cluster.accelerator.peak(precision).value() > 0.0);
        case VerdictReason::fits:
        case VerdictReason::out_of_memory:
        case VerdictReason::above_limit:
            break;
    }
    return false;
}

VerdictReason LayoutRules::first_broken(const Layout& layout) const noexcept {
    for (int rule = 1; rule < num_verdict_reasons; ++rule)
        if (breaks(layout, static_cast<VerdictReason>(rule))) return static_cast<VerdictReason>(rule);
    return VerdictReason::fits;
}

namespace {

/// Values of one axis up to `most` that keep the rule, nearest to `value`. `most` is a size of the model, so the loop
/// is short; it is cut at 65,536 steps.
template <class Keeps>
std::string near_valid(int64_t value, int64_t most, const Keeps& keeps) {
    std::vector<int64_t> choices;
    for (int64_t choice = 1; choice <= std::min<int64_t>(most, 65'536); ++choice)
        if (keeps(choice)) choices.push_back(choice);
    return listed(nearest_choices(choices, value, 3));
}

std::string layers_detail(const Transformer& transformer, const Layout& layout) {
    const int64_t chunks = num_chunks(layout);
    const std::string cut =
        fmt::format("pipeline_parallel {} x virtual_pipeline {}", layout.pipeline_parallel, layout.virtual_pipeline);
    if (layout.split.kind == SplitKind::explicit_chunks) {
        const auto& split = layout.split.layers_per_chunk;
        return fmt::format(
            "pipeline_split has {} chunks with {} layers together, the model has {} layers over {} = {} chunks",
            split.size(), std::accumulate(split.begin(), split.end(), int64_t{0}), transformer.num_layers, cut, chunks);
    }
    const bool slots = layout.split.kind == SplitKind::slots;
    const int64_t number = slots ? num_slots(transformer) : transformer.num_layers;
    std::string text = fmt::format("{} {}do not divide over {} = {} chunks", number,
                                   slots ? "slots (layers, embedding, head, MTP) " : "layers ", cut, chunks);
    if (layout.split.kind == SplitKind::short_last) text += " with only the last one shorter";
    const auto evens = [&](int64_t choice) {
        Layout other = layout;
        other.pipeline_parallel = 1;
        other.virtual_pipeline = static_cast<int>(choice);
        return split_is_even(transformer, other);
    };
    text += "; nearest numbers of chunks: " + near_valid(chunks, number, evens);
    if (layout.split.kind == SplitKind::uniform && num_slots(transformer) % std::max<int64_t>(chunks, 1) == 0)
        text += "; pipeline_split \"slots\" divides";
    return text;
}

std::string ffn_detail(const Transformer& transformer, const Layout& layout) {
    const auto near = [](int64_t size, int64_t value) {
        return listed(nearest_choices(divisors(size, size), value, 3));
    };
    const bool has_dense = transformer.ffn > 0 && (!transformer.experts || transformer.num_dense_layers > 0);
    if (has_dense && !divides(layout.tensor_parallel, transformer.ffn))
        return fmt::format("feed-forward size {} is not divisible by tensor_parallel {}; nearest: {}", transformer.ffn,
                           layout.tensor_parallel, near(transformer.ffn, layout.tensor_parallel));
    const Experts experts = transformer.experts.value_or(Experts{});
    if (!divides(layout.tensor_parallel, experts.shared_ffn))
        return fmt::format("shared expert size {} is not divisible by tensor_parallel {}; nearest: {}",
                           experts.shared_ffn, layout.tensor_parallel,
                           near(experts.shared_ffn, layout.tensor_parallel));
    return fmt::format("expert size {} is not divisible by expert_tensor_parallel {}; nearest: {}", experts.ffn,
                       layout.expert_tensor_parallel, near(experts.ffn, layout.expert_tensor_parallel));
}

std::string sequence_detail(int sequence_length, const Layout& layout) {
    const int64_t cp = layout.context_parallel;
    const int64_t unit = std::lcm(
        cp > 1 ? 2 * cp : 1, layout.sequence_parallel && layout.tensor_parallel > 1 ? cp * layout.tensor_parallel : cp);
    std::string by = cp > 1 ? fmt::format("2 x context_parallel {}", cp) : std::string{};
    if (layout.sequence_parallel && layout.tensor_parallel > 1)
        by += fmt::format("{}tensor_parallel {} (sequence parallelism)", by.empty() ? "" : " and ",
                          layout.tensor_parallel);
    return fmt::format("sequence length {} does not divide by {}; nearest lengths: {}", sequence_length, by,
                       listed(near_multiples(unit, sequence_length)));
}

}  // namespace

std::string LayoutRules::detail(const Layout& layout, VerdictReason rule) const {
    const auto& attention = transformer.attention;
    switch (rule) {
        case VerdictReason::more_cards_than_cluster:
            return fmt::format("{} cards are more than the cluster has{}; nearest: {}", layout.cards,
                               cluster.reserved_nodes > 0 ? " without its spare nodes" : "", cluster.num_cards());
        case VerdictReason::world_size_not_divisible:
            if (divides_cards(layout)) {
                const int64_t ranks = int64_t{layout.data_parallel()} * layout.context_parallel;
                return fmt::format(
                    "data-parallel x context-parallel ranks {} are not a multiple of the shard group {}; "
                    "nearest: {}",
                    ranks, methods.shard_group,
                    listed(nearest_choices(divisors(ranks, ranks), methods.shard_group, 3)));
            }
            return fmt::format(
                "{} cards are not a multiple of tensor_parallel {} x context_parallel {} x pipeline_parallel "
                "{} = {}; nearest: {}",
                layout.cards, layout.tensor_parallel, layout.context_parallel, layout.pipeline_parallel,
                layout.model_parallel(), listed(near_multiples(layout.model_parallel(), layout.cards)));
        case VerdictReason::expert_groups_not_divisible: {
            const int64_t group =
                int64_t{layout.expert_tensor_parallel} * layout.expert_parallel * layout.pipeline_parallel;
            constexpr int64_t billion =
                1'000'000'000;  // beyond it the common multiple could overflow, and no cluster is near
            const bool small = group <= billion && layout.model_parallel() <= billion;
            const int64_t unit = small ? std::lcm(group, layout.model_parallel()) : group;
            return fmt::format(
                "{} cards are not a multiple of expert_tensor_parallel {} x expert_parallel {} x "
                "pipeline_parallel {} = {}; nearest: {}",
                layout.cards, layout.expert_tensor_parallel, layout.expert_parallel, layout.pipeline_parallel, group,
                listed(near_multiples(unit, layout.cards)));
        }
        case VerdictReason::heads_not_divisible:
            return fmt::format(
                "{} attention heads are not divisible by tensor_parallel {}; nearest: {}", attention.num_heads,
                layout.tensor_parallel,
                listed(nearest_choices(divisors(attention.num_heads, attention.num_heads), layout.tensor_parallel, 3)));
        case VerdictReason::kv_heads_not_divisible: {
            const auto keeps = [&](int64_t tp) {
                return divides(tp, attention.num_heads) &&
                       (divides(tp, attention.num_kv_heads) || divides(attention.num_kv_heads, tp));
            };
            return fmt::format("{} key/value heads and tensor_parallel {}: neither divides the other; nearest: {}",
                               attention.num_kv_heads, layout.tensor_parallel,
                               near_valid(layout.tensor_parallel, attention.num_heads, keeps));
        }
        case VerdictReason::ffn_not_divisible:
            return ffn_detail(transformer, layout);
        case VerdictReason::experts_not_divisible: {
            const int64_t routed = transformer.experts.value_or(Experts{}).num_routed;
            return fmt::format("{} routed experts are not divisible by expert_parallel {}; nearest: {}", routed,
                               layout.expert_parallel,
                               listed(nearest_choices(divisors(routed, routed), layout.expert_parallel, 3)));
        }
        case VerdictReason::experts_without_moe:
            return fmt::format(
                "expert_parallel {} and expert_tensor_parallel {} for a model without experts; nearest: 1",
                layout.expert_parallel, layout.expert_tensor_parallel);
        case VerdictReason::vocabulary_not_divisible: {
            const int64_t unit = std::max(layout.tensor_parallel, 1);
            const int64_t least = (int64_t{transformer.vocabulary} + unit - 1) / unit * unit;
            return fmt::format(
                "padded vocabulary {} must hold the vocabulary {} and divide by tensor_parallel {}; "
                "nearest: {}",
                transformer.padded_vocabulary, transformer.vocabulary, layout.tensor_parallel,
                listed({std::max(least, transformer.padded_vocabulary / unit * unit),
                        std::max(least, transformer.padded_vocabulary / unit * unit) + unit}));
        }
        case VerdictReason::layers_not_divisible:
            return layers_detail(transformer, layout);
        case VerdictReason::virtual_stages_without_interleaving:
            if (is_v_shaped(layout.schedule))
                return fmt::format(
                    "schedule \"{}\" needs virtual_pipeline 2 and pipeline_parallel of 2 or more, not {} and {}; "
                    "nearest: virtual_pipeline 2, or schedule \"{}\"",
                    to_text(layout.schedule), layout.virtual_pipeline, layout.pipeline_parallel,
                    layout.virtual_pipeline > 1 && layout.pipeline_parallel > 1 ? "interleaved" : "1f1b");
            if (layout.schedule == PipelineSchedule::interleaved)
                return fmt::format(
                    "schedule \"interleaved\" needs virtual_pipeline and pipeline_parallel of 2 or more, not {} "
                    "and {}; nearest: virtual_pipeline 2, or schedule \"1f1b\"",
                    layout.virtual_pipeline, layout.pipeline_parallel);
            return fmt::format("virtual_pipeline {} needs schedule \"interleaved\"; nearest: virtual_pipeline 1",
                               layout.virtual_pipeline);
        case VerdictReason::odd_pipeline:
            return fmt::format("schedule \"dualpipe\" needs an even pipeline_parallel, not {}; nearest: {}, {}",
                               layout.pipeline_parallel, std::max(2, layout.pipeline_parallel - 1),
                               layout.pipeline_parallel + (layout.pipeline_parallel > 2 ? 1 : 3));
        case VerdictReason::micro_batches_not_divisible: {
            const int64_t unit = layout.micro_batch_multiple() * batch_unit(layout);
            const int64_t least = layout.least_micro_batches() * batch_unit(layout);
            const std::string near = listed(near_multiples(unit, std::max(least, layout.global_batch_size)));
            if (layout.num_micro_batches() < layout.least_micro_batches())
                return fmt::format(
                    "{} micro-batches are fewer than 2 x pipeline_parallel {} ({}); nearest global batches: {}",
                    layout.num_micro_batches(), layout.pipeline_parallel, to_text(layout.schedule), near);
            if (layout.schedule == PipelineSchedule::dualpipe)
                return fmt::format("{} micro-batches are odd (dualpipe); nearest global batches: {}",
                                   layout.num_micro_batches(), near);
            return fmt::format(
                "{} micro-batches are not a multiple of pipeline_parallel {} (interleaved); nearest global "
                "batches: {}",
                layout.num_micro_batches(), layout.pipeline_parallel, near);
        }
        case VerdictReason::batch_not_divisible:
            return fmt::format("global batch {} is not a multiple of micro-batch {} x dp {}; nearest: {}",
                               layout.global_batch_size, layout.micro_batch_size, layout.data_parallel(),
                               listed(near_multiples(batch_unit(layout), layout.global_batch_size)));
        case VerdictReason::sequence_not_divisible:
            if (sequence_splits(sequence_length, layout)) {
                const int64_t ranks = methods.all_to_all_ranks(layout.context_parallel);
                return divides(ranks, layout.context_parallel)
                           ? fmt::format(
                                 "{} attention heads are not divisible by tensor_parallel {} x all-to-all "
                                 "ranks {} of context parallelism",
                                 attention.num_heads, layout.tensor_parallel, ranks)
                           : fmt::format("context_parallel {} is not a multiple of ulysses_degree {}",
                                         layout.context_parallel, ranks);
            }
            return sequence_detail(sequence_length, layout);
        case VerdictReason::sharding_not_supported:
            return fmt::format(
                "optimizer_sharding {} together with pipeline_parallel {}: gradients and weights cannot be "
                "split while micro-batches are in flight; nearest: optimizer_sharding 1, or pipeline_parallel 1",
                layout.optimizer_sharding, layout.pipeline_parallel);
        case VerdictReason::precision_not_supported:
            return "the card has no matrix unit for this precision";
        case VerdictReason::fits:
        case VerdictReason::out_of_memory:
        case VerdictReason::above_limit:
            break;
    }
    return {};
}

}  // namespace windtunnel::model
