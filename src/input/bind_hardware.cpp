#include <fmt/format.h>

#include <algorithm>

#include "binders.hpp"
#include "key_tables.hpp"

namespace windtunnel::input {
namespace {

using model::Precision;
constexpr std::pair<const char*, Precision> matrix_peaks[] = {
    {"matrix_peak.fp32", Precision::fp32},   {"matrix_peak.tf32", Precision::tf32},
    {"matrix_peak.fp16", Precision::fp16},   {"matrix_peak.bf16", Precision::bf16},
    {"matrix_peak.fp8", Precision::fp8},     {"matrix_peak.mxfp8", Precision::mxfp8},
    {"matrix_peak.nvfp4", Precision::nvfp4}, {"matrix_peak.int8", Precision::int8}};

/// The word of a key of algorithms, which the key table has checked.
model::CollectiveAlgorithm algorithm_of(const Values& values, const char* path) {
    const std::string word = values.text(path);
    const auto& names = model::collective_algorithm_names;
    const auto found = std::find(names.begin(), names.end(), word);
    return found == names.end() ? model::CollectiveAlgorithm::ring
                                : static_cast<model::CollectiveAlgorithm>(found - names.begin());
}

model::OnChip bind_on_chip(const Values& values, Findings& findings) {
    model::OnChip chip;
    chip.tiles = values.flag("on_chip.tiles");
    chip.cores = values.integer("on_chip.cores");
    chip.vector_cores = values.integer("on_chip.vector_cores");
    chip.clock = PerSecond{values.number("on_chip.clock")};
    chip.flops_per_cycle = values.number("on_chip.flops_per_cycle");
    chip.l2 = Bytes{values.number("on_chip.l2")};
    chip.l2_bandwidth = BytesPerSecond{values.number("on_chip.l2_bandwidth")};
    chip.l1 = Bytes{values.number("on_chip.l1")};
    chip.l0a = Bytes{values.number("on_chip.l0a")};
    chip.l0b = Bytes{values.number("on_chip.l0b")};
    chip.l0c = Bytes{values.number("on_chip.l0c")};
    chip.unified_buffer = Bytes{values.number("on_chip.unified_buffer")};
    const auto too_small = [](Bytes buffer, double least) { return buffer > Bytes{0.0} && buffer < Bytes{least}; };
    // Two buffers of the smallest tile, 16 x 256 x 64 elements of 16 bit, and its sums in fp32.
    const bool fits = !too_small(chip.l0a, 2.0 * 16 * 64 * 2) && !too_small(chip.l0b, 2.0 * 64 * 256 * 2) &&
                      !too_small(chip.l0c, 16.0 * 256 * 4) && !too_small(chip.l1, 2.0 * 64 * (16 + 256) * 2);
    if (chip.tiles && (chip.cores < 1 || !(chip.clock > PerSecond{0.0}) || !(chip.flops_per_cycle > 0.0) || !fits))
        findings.push_back(finding_at(values["on_chip.tiles"].place, field_of(values, "on_chip.tiles"),
                                      "tiles need cores, clock, flops_per_cycle and buffers of 4, 64, 16 and 68 KiB",
                                      "on_chip.cores, on_chip.clock, on_chip.flops_per_cycle, l0a, l0b, l0c, l1"));
    return chip;
}

/// A domain holds whole nodes, or a node holds whole domains.
void check_domain(const Values& values, const model::Accelerator& card, Findings& findings) {
    const int domain = card.scale_up_domain, node = card.cards_per_node;
    if (domain < 1 || node < 1 || domain % node == 0 || node % domain == 0) return;
    const Value& value = values["scale_up.domain"];
    const int below = std::max(1, domain / node) * node;
    findings.push_back(finding_at(
        value.given ? value.place : values.place, field_of(values, "scale_up.domain"),
        fmt::format("a scale-up domain of {} cards and nodes of {} cards do not fit into each other", domain, node),
        fmt::format("nearest: {}, {}", below, below + node)));
}

}  // namespace

model::Accelerator bind_accelerator(const Values& values, Findings& findings) {
    model::Accelerator card;
    if (values.has_bad()) return card;
    card.id = values.text("id");
    card.vendor = values.text("vendor");
    for (const auto& [path, precision] : matrix_peaks)
        card.matrix_peak[static_cast<std::size_t>(precision)] = FlopsPerSecond{values.number(path)};
    card.vector_peak = FlopsPerSecond{values.number("vector_peak")};
    card.memory = Bytes{values.number("memory")};
    card.memory_bandwidth = BytesPerSecond{values.number("memory_bandwidth")};
    card.cards_per_node = values.integer("cards_per_node");
    card.scale_up = {BytesPerSecond{values.number("scale_up.bandwidth")},
                     Seconds{values.number("scale_up.latency")},
                     values.text("scale_up.kind"),
                     {},
                     0,
                     1.0,
                     false};
    card.scale_up_domain = values.integer("scale_up.domain");
    card.scale_out = {BytesPerSecond{values.number("scale_out.bandwidth")},
                      Seconds{values.number("scale_out.latency")},
                      values.text("scale_out.kind"),
                      {},
                      0,
                      1.0,
                      false};
    card.scale_up.algorithm = algorithm_of(values, "scale_up.algorithm");
    card.scale_out.algorithm = algorithm_of(values, "scale_out.algorithm");
    card.on_chip = bind_on_chip(values, findings);
    card.power = Watts{values.number("power")};
    const bool has_peak = std::any_of(card.matrix_peak.begin(), card.matrix_peak.end(),
                                      [](FlopsPerSecond peak) { return peak.value() > 0.0; });
    if (!has_peak)
        findings.push_back(finding_at(values.place, "matrix_peak", "the card has no matrix peak",
                                      "at least one, for example matrix_peak.bf16 = \"312 TFLOP/s\""));
    check_domain(values, card, findings);
    return card;
}

void bind_cluster_size(const Values& values, model::Cluster& cluster, Findings& findings) {
    if (values.has_bad("nodes") || values.has_bad("cards")) return;
    const Value &nodes = values["nodes"], &cards = values["cards"];
    const auto add = [&](const Value& value, const char* path, std::string message, std::string expected) {
        findings.push_back(finding_at(value.given ? value.place : values.place, field_of(values, path),
                                      std::move(message), std::move(expected)));
    };
    if (nodes.given == cards.given)
        return add(cards, "nodes", nodes.given ? "both nodes and cards are given" : "is missing",
                   "the size as nodes or as cards");
    int& per_node = cluster.accelerator.cards_per_node;
    if (per_node < 1) return;  // the accelerator has a finding
    if (nodes.given) {
        if (static_cast<double>(nodes.integer) * per_node > most_cards)
            return add(nodes, "nodes", fmt::format("{} nodes of {} cards are too many", nodes.integer, per_node),
                       fmt::format("at most {:.0f} cards", most_cards));
        cluster.num_nodes = static_cast<int>(nodes.integer);
        return;
    }
    const int number = static_cast<int>(cards.integer);
    if (number < per_node) {  // a part of one node: a smaller node
        per_node = number;
        cluster.num_nodes = 1;
    } else if (number % per_node != 0) {
        const int below = number / per_node * per_node;
        add(cards, "cards", fmt::format("{} cards are no whole number of nodes of {} cards", number, per_node),
            fmt::format("nearest: {}, {}", below, below + per_node));
    } else {
        cluster.num_nodes = number / per_node;
    }
}

model::Cluster bind_cluster(const Values& values, const model::Accelerator& accelerator, Findings& findings) {
    model::Cluster cluster;
    cluster.id = values.text("id");
    cluster.accelerator = accelerator;
    if (values.has_bad()) return cluster;
    model::Accelerator& card = cluster.accelerator;
    if (values.given("cards_per_node")) card.cards_per_node = values.integer("cards_per_node");
    if (values.given("scale_up.bandwidth"))
        card.scale_up.bandwidth = BytesPerSecond{values.number("scale_up.bandwidth")};
    if (values.given("scale_up.latency")) card.scale_up.latency = Seconds{values.number("scale_up.latency")};
    if (values.given("scale_up.domain")) card.scale_up_domain = values.integer("scale_up.domain");
    if (values.given("scale_out.bandwidth"))
        card.scale_out.bandwidth = BytesPerSecond{values.number("scale_out.bandwidth")};
    if (values.given("scale_out.latency")) card.scale_out.latency = Seconds{values.number("scale_out.latency")};
    if (values.given("scale_up.algorithm")) card.scale_up.algorithm = algorithm_of(values, "scale_up.algorithm");
    if (values.given("scale_out.algorithm")) card.scale_out.algorithm = algorithm_of(values, "scale_out.algorithm");
    card.scale_out.leaf_cards = values.integer("scale_out.leaf_cards");
    card.scale_out.oversubscription = values.number("scale_out.oversubscription");
    if (card.scale_out.oversubscription > 1.0 && card.scale_out.leaf_cards == 0)
        findings.push_back(finding_at(values["scale_out.oversubscription"].place,
                                      field_of(values, "scale_out.oversubscription"),
                                      "oversubscribed leaves need a size", "scale_out.leaf_cards, cards under a leaf"));
    card.scale_out.shared_port = values.flag("scale_out.shared_port");
    if (values.given("cards_per_node") || values.given("scale_up.domain")) check_domain(values, card, findings);
    bind_cluster_size(values, cluster, findings);
    return cluster;
}

}  // namespace windtunnel::input
