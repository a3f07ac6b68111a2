/// Sub-tables of [train] that hold for every layout of a plan.
#include <fmt/format.h>

#include <algorithm>

#include "binders.hpp"

namespace windtunnel::input {
namespace {

using model::ContextMethod, model::Documents, model::JitterLaw, model::Overlap, model::Packing, model::RecomputeMethod;
using model::TrainingMethods;
namespace recompute_module = model::recompute_module;

constexpr unsigned module_bit(std::string_view word) {
    if (word == "norms") return recompute_module::norms;
    if (word == "activation") return recompute_module::activation;
    if (word == "attention_core") return recompute_module::attention_core;
    if (word == "up_projections") return recompute_module::up_projections;
    return word == "feed_forward" ? recompute_module::feed_forward : recompute_module::experts;
}

Overlap bind_overlap(const Values& values) {
    Overlap overlap;
    overlap.operators = values.flag("operators");
    overlap.chunks = values.integer("chunks");
    if (values.given("compute_rate")) overlap.compute_rate = values.number("compute_rate");
    overlap.communication_rate = values.number("communication_rate");
    overlap.point_to_point = values.flag("point_to_point");
    overlap.experts = values.flag("experts");
    overlap.bucket = Bytes{values.number("bucket")};
    return overlap;
}

}  // namespace

TrainingMethods bind_methods(const Values& train, Findings& findings) {
    TrainingMethods methods;
    methods.context = enum_of<ContextMethod>(train.text("context.method"), {{"all_gather", ContextMethod::all_gather},
                                                                            {"ring", ContextMethod::ring},
                                                                            {"ulysses", ContextMethod::ulysses},
                                                                            {"hybrid", ContextMethod::hybrid}});
    methods.ulysses_degree = train.integer("context.ulysses_degree");
    if (train.given("context.ulysses_degree") && methods.context != ContextMethod::hybrid)
        findings.push_back(finding_at(train["context.ulysses_degree"].place, field_of(train, "context.ulysses_degree"),
                                      "is read only with train.context.method = \"hybrid\"", "no such key here"));
    methods.shard_group = train.integer("sharding.group");
    methods.expert_imbalance = train.number("experts.imbalance");
    for (const std::string& word : train["recomputation.modules"].texts)
        methods.recomputation.modules |= module_bit(word);
    methods.recomputation.method =
        train.text("recomputation.method") == "block" ? RecomputeMethod::block : RecomputeMethod::uniform;
    methods.recomputation.layers = train.integer("recomputation.layers");
    methods.overlap = bind_overlap(train.below("overlap"));
    methods.host = {Seconds{train.number("host.launch")}, train.flag("host.graphs"),
                    Seconds{train.number("host.graph_launch")}};
    methods.jitter = {train.number("jitter.sigma"),
                      train.text("jitter.law") == "lognormal" ? JitterLaw::lognormal : JitterLaw::normal,
                      train.number("jitter.slow_share"), train.number("jitter.slow_speed")};
    methods.offload = {train.number("offload.activations"), train.number("offload.optimizer"), BytesPerSecond{0.0}};
    if (train.given("offload.bandwidth")) methods.offload.bandwidth = BytesPerSecond{train.number("offload.bandwidth")};
    const bool offloads = methods.offload.activations > 0.0 || methods.offload.optimizer > 0.0;
    const bool bad = train["offload.bandwidth"].bad;
    if (offloads && !bad && !(methods.offload.bandwidth > BytesPerSecond{0.0}))
        findings.push_back(finding_at(train.place, field_of(train, "offload.bandwidth"),
                                      "is missing, and train.offload moves states or activations to the host",
                                      "the bandwidth of a card to host memory, for example \"25 GB/s\""));
    return methods;
}

Documents bind_documents(const Values& train, int sequence_length, Findings& findings) {
    Documents documents;
    for (const std::int64_t length : train["documents.lengths"].integers)
        documents.lengths.push_back(static_cast<double>(length));
    if (train.given("documents.median")) documents.median = train.number("documents.median");
    documents.sigma = train.number("documents.sigma");
    documents.packing = enum_of<Packing>(
        train.text("documents.packing"),
        {{"padded", Packing::padded}, {"in_order", Packing::in_order}, {"longest_first", Packing::longest_first}});
    if (!documents.lengths.empty() && train.given("documents.median"))
        findings.push_back(finding_at(train["documents.median"].place, field_of(train, "documents.median"),
                                      "and train.documents.lengths exclude each other", "one of the two"));
    const auto longest = std::max_element(documents.lengths.begin(), documents.lengths.end());
    if (longest != documents.lengths.end() && *longest > sequence_length && sequence_length > 0)
        findings.push_back(
            finding_at(train["documents.lengths"].place, field_of(train, "documents.lengths"),
                       fmt::format("{} is longer than train.sequence_length {}", *longest, sequence_length),
                       fmt::format("at most {}", sequence_length)));
    return documents;
}

}  // namespace windtunnel::input
