#pragma once
/// Everything a run needs, resolved: the value that `input` builds and that every kernel and study reads.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "windtunnel/model/efficiency.hpp"
#include "windtunnel/model/failures.hpp"
#include "windtunnel/model/hardware.hpp"
#include "windtunnel/model/layout.hpp"
#include "windtunnel/model/serving.hpp"
#include "windtunnel/model/training_methods.hpp"
#include "windtunnel/model/transformer.hpp"

namespace windtunnel::model {

/// Values of one axis of the layout space. "any" = every legal value, resolved by the design space.
template <class Value>
struct Axis {
    bool any = false;
    std::vector<Value> values;  ///< in the order of the file, no doubles; empty when any
    [[nodiscard]] bool fixed() const noexcept { return !any && values.size() == 1; }
    friend bool operator==(const Axis&, const Axis&) = default;
};

struct LayoutSpace {
    Axis<int> cards{true, {}};
    Axis<int> tensor_parallel{false, {1}};
    Axis<int> pipeline_parallel{false, {1}};
    Axis<int> virtual_pipeline{false, {1}};
    Axis<int> context_parallel{false, {1}};
    Axis<int> expert_parallel{false, {1}};
    Axis<int> expert_tensor_parallel{false, {1}};
    Axis<int> micro_batch_size{false, {1}};
    Axis<std::int64_t> global_batch_size{false,
                                         {1}};  ///< a range {from, to} is every integer in it; "any" is not allowed
    Axis<Recompute> recompute{false, {Recompute::none}};
    Axis<PipelineSchedule> schedule{false, {PipelineSchedule::one_f_one_b}};
    Axis<int> optimizer_sharding{false, {1}};
    bool sequence_parallel = true;
    PipelineSplit split;
};

enum class Objective { tokens_per_second, step_time, cost, energy, time_to_tokens };

struct Search {
    Objective objective = Objective::tokens_per_second;
    std::vector<std::string> pareto{"tokens_per_second", "memory"};
    int top = 50;
    /// Closed form within this fraction of the N-th best goes to the executor.
    double margin = 0.10;
    std::optional<double> max_parameters, max_activated_parameters;
    std::optional<Usd> max_usd;
    std::optional<Watts> max_power;
};

struct Rehearsal {
    std::optional<Seconds> horizon;  ///< wall clock at most
    std::optional<double> tokens;    ///< train.tokens when absent
    std::int64_t trials = 1000;
};

struct Cost {
    UsdPerSecond card;  ///< 0: unknown, no cost is printed
    UsdPerJoule energy;
    double pue = 1.0;
    UsdPerSecond spare_node;
};

struct Training {
    int sequence_length = 0;
    double tokens = 0.0;                               ///< of the whole run; 0: not given
    Precision precision = Precision::bf16;             ///< of matrix products: bf16, fp16, fp8, mxfp8, nvfp4
    Precision gradient_precision = Precision::fp32;    ///< of the gradient buffer and its exchange
    Precision activation_precision = Precision::bf16;  ///< of the stored inputs of activation functions: bf16 or fp8
    LayoutSpace layout;
    std::optional<Layout> published;  ///< `[train.published]`
    bool flash_attention = true;      ///< false: scores are stored, with dropout
    bool fused_operators = true;      ///< false: a gated activation holds one product more, logits 12 bytes, dropout
    std::optional<double> reserve_fraction;  ///< of card memory kept free; default 0
    TrainingMethods methods;
    Documents documents;
};

/// A file that was read: its text and hash go into /provenance.
struct InputFile {
    std::string role;  ///< plan, model, cluster, accelerator, failures, calibration
    std::string path;
    std::string text;
    std::uint64_t hash = 0;  ///< FNV-1a, 64 bit, of the text
};

struct Plan {
    std::string title;
    std::uint64_t seed = 1;
    Transformer transformer;
    Cluster cluster;
    Efficiency efficiency;
    std::optional<Training> training;
    std::optional<Serving> serving;
    Failures failures;
    Recovery recovery;
    Search search;
    Rehearsal rehearsal;
    Cost cost;
    std::vector<InputFile> files;
    std::vector<std::string> implicit_defaults;  ///< "train.layout.context_parallel = 1", printed
    std::vector<std::string> assumptions;        ///< "recovery.restart = 600 s (assumed)", printed and stored
    std::string resolved_text;                   ///< canonical text of all values: the identity of the plan
};

}  // namespace windtunnel::model
