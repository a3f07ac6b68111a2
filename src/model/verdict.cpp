#include "windtunnel/model/verdict.hpp"

namespace windtunnel::model {

std::string to_text(VerdictReason reason) {
    switch (reason) {
        case VerdictReason::fits:
            return "fits";
        case VerdictReason::more_cards_than_cluster:
            return "more_cards_than_cluster";
        case VerdictReason::world_size_not_divisible:
            return "world_size_not_divisible";
        case VerdictReason::expert_groups_not_divisible:
            return "expert_groups_not_divisible";
        case VerdictReason::heads_not_divisible:
            return "heads_not_divisible";
        case VerdictReason::kv_heads_not_divisible:
            return "kv_heads_not_divisible";
        case VerdictReason::ffn_not_divisible:
            return "ffn_not_divisible";
        case VerdictReason::experts_not_divisible:
            return "experts_not_divisible";
        case VerdictReason::experts_without_moe:
            return "experts_without_moe";
        case VerdictReason::vocabulary_not_divisible:
            return "vocabulary_not_divisible";
        case VerdictReason::layers_not_divisible:
            return "layers_not_divisible";
        case VerdictReason::virtual_stages_without_interleaving:
            return "virtual_stages_without_interleaving";
        case VerdictReason::odd_pipeline:
            return "odd_pipeline";
        case VerdictReason::micro_batches_not_divisible:
            return "micro_batches_not_divisible";
        case VerdictReason::batch_not_divisible:
            return "batch_not_divisible";
        case VerdictReason::sequence_not_divisible:
            return "sequence_not_divisible";
        case VerdictReason::sharding_not_supported:
            return "sharding_not_supported";
        case VerdictReason::precision_not_supported:
            return "precision_not_supported";
        case VerdictReason::out_of_memory:
            return "out_of_memory";
        case VerdictReason::above_limit:
            return "above_limit";
    }
    return "";
}

std::string explain(VerdictReason reason) {
    switch (reason) {
        case VerdictReason::fits:
            return "The layout can be used.";
        case VerdictReason::more_cards_than_cluster:
            return "The layout needs more cards than the cluster has.";
        case VerdictReason::world_size_not_divisible:
            return "The number of cards is not a multiple of tensor x context x pipeline parallel.";
        case VerdictReason::expert_groups_not_divisible:
            return "The cards of a pipeline stage are not a multiple of expert tensor x expert parallel.";
        case VerdictReason::heads_not_divisible:
            return "Attention heads cannot be dealt evenly to tensor parallel ranks.";
        case VerdictReason::kv_heads_not_divisible:
            return "Key/value heads can neither be dealt to nor be copied evenly over tensor parallel ranks.";
        case VerdictReason::ffn_not_divisible:
            return "The feed-forward width cannot be cut evenly over tensor parallel ranks.";
        case VerdictReason::experts_not_divisible:
            return "Routed experts cannot be dealt evenly to expert parallel ranks.";
        case VerdictReason::experts_without_moe:
            return "Expert parallelism needs a model with experts.";
        case VerdictReason::vocabulary_not_divisible:
            return "The padded vocabulary is too small or cannot be cut evenly over tensor parallel ranks.";
        case VerdictReason::layers_not_divisible:
            return "Layers cannot be dealt to the pipeline's model chunks under the chosen split.";
        case VerdictReason::virtual_stages_without_interleaving:
            return "Virtual stages need a schedule with chunks, and such a schedule needs two or more of them.";
        case VerdictReason::odd_pipeline:
            return "DualPipe feeds a pipeline from both ends and needs an even number of ranks.";
        case VerdictReason::micro_batches_not_divisible:
            return "The schedule needs more micro-batches, or a multiple of the pipeline size or of two.";
        case VerdictReason::batch_not_divisible:
            return "The global batch is not a multiple of micro-batch x data parallel.";
        case VerdictReason::sequence_not_divisible:
            return "The sequence cannot be cut evenly over context or tensor parallel ranks.";
        case VerdictReason::sharding_not_supported:
            return "This optimizer sharding level does not exist or does not work together with a pipeline.";
        case VerdictReason::precision_not_supported:
            return "The card has no matrix unit for this precision.";
        case VerdictReason::out_of_memory:
            return "The fullest pipeline stage needs more memory than a card has.";
        case VerdictReason::above_limit:
            return "The layout is above a limit that the plan sets.";
    }
    return "";
}

}  // namespace windtunnel::model
