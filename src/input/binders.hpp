#pragma once
/// From the checked values of a file to the model's values, with the rules between values of one file.
#include <string>
#include <vector>

#include "windtunnel/input/values.hpp"
#include "windtunnel/model/chain.hpp"
#include "windtunnel/model/engine.hpp"
#include "windtunnel/model/plan.hpp"

namespace windtunnel::input {

using Findings = std::vector<base::Finding>;

[[nodiscard]] model::Transformer bind_model(const Values& values, Findings& findings);
[[nodiscard]] model::Accelerator bind_accelerator(const Values& values, Findings& findings);
/// Size and overrides of a cluster file or a [cluster] table on its accelerator.
[[nodiscard]] model::Cluster bind_cluster(const Values& values, const model::Accelerator& accelerator,
                                          Findings& findings);
/// The size alone: `nodes` or `cards` of these values.
void bind_cluster_size(const Values& values, model::Cluster& cluster, Findings& findings);
[[nodiscard]] model::Failures bind_failures(const Values& values, Findings& findings);
[[nodiscard]] model::Efficiency bind_efficiency(const Values& values, Findings& findings);
[[nodiscard]] model::EngineEfficiency bind_engine_efficiency(const Values& values);
/// One chain, or one for each variant of the file.
[[nodiscard]] std::vector<model::Chain> bind_chains(const Values& values, Findings& findings);
[[nodiscard]] model::Recovery bind_recovery(const Values& plan, const model::Failures& failures, Findings& findings);
[[nodiscard]] model::Training bind_training(const Values& plan, const model::Cluster& cluster, Findings& findings);
/// Sub-tables of [train] that hold for every layout.
[[nodiscard]] model::TrainingMethods bind_methods(const Values& train, Findings& findings);
[[nodiscard]] model::Documents bind_documents(const Values& train, int sequence_length, Findings& findings);
[[nodiscard]] model::Search bind_search(const Values& plan);
/// The sections serve.*, without the rows of the trace.
[[nodiscard]] model::Serving bind_serving(const Values& plan, Findings& findings);
/// The rules between the deployment, the model and the cluster: every broken one at once.
void check_serving_rules(const model::Plan& plan, const Values& values, Findings& findings);

/// The rules between the layout, the model and the cluster: of the published layout, of a space of one point, and of
/// each axis alone. Call only when none of these has a finding.
void check_layout_rules(const model::Plan& plan, const Values& values, Findings& findings);

/// Index of a word in the key's list of words.
template <class Enum>
[[nodiscard]] Enum enum_of(const std::string& word, const std::vector<std::pair<std::string, Enum>>& words) {
    for (const auto& [name, value] : words)
        if (name == word) return value;
    return words.front().second;
}

}  // namespace windtunnel::input
