#pragma once
/// The rules between the values of a training layout, as arithmetic: which rule is broken, by which values, and what
/// the nearest valid choices are. Used by `input` (findings) and `train` (verdicts of a search).
#include <cstdint>
#include <string>
#include <vector>

#include "windtunnel/model/hardware.hpp"
#include "windtunnel/model/layout.hpp"
#include "windtunnel/model/training_methods.hpp"
#include "windtunnel/model/transformer.hpp"
#include "windtunnel/model/verdict.hpp"

namespace windtunnel::model {

/// What the rules need besides the layout. Views: the values must outlive it.
struct LayoutRules {
    const Transformer& transformer;
    const Cluster& cluster;
    int sequence_length = 0;
    Precision precision = Precision::bf16;
    const TrainingMethods& methods = plain_methods;

    /// Is this one rule broken? A rule that has no meaning for the layout (an odd division before it) is not broken.
    [[nodiscard]] bool breaks(const Layout& layout, VerdictReason rule) const noexcept;

    /// First broken rule in the order of VerdictReason, or `fits`. No text: for the inner loop of a search.
    [[nodiscard]] VerdictReason first_broken(const Layout& layout) const noexcept;

    /// The values and the nearest valid choices:
    /// "global batch 32 is not a multiple of micro-batch 1 x dp 23; nearest: 23, 46, 69". Empty for `fits`.
    [[nodiscard]] std::string detail(const Layout& layout, VerdictReason rule) const;
};

/// Rows of the embedding that are stored: the padded vocabulary of the model file, else the next multiple of 128 x tp.
/// Source: Megatron-LM, make_vocab_size_divisible_by (default 128).
[[nodiscard]] std::int64_t padded_vocabulary(const Transformer& transformer, int tensor_parallel) noexcept;

/// Divisors of a number, ascending; only those up to `most`. Empty for number < 1.
[[nodiscard]] std::vector<std::int64_t> divisors(std::int64_t number, std::int64_t most);

/// Up to `count` of the sorted choices around `value`, ascending.
[[nodiscard]] std::vector<std::int64_t> nearest_choices(const std::vector<std::int64_t>& choices, std::int64_t value,
                                                        int count);

}  // namespace windtunnel::model
