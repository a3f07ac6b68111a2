/// The rules between values as findings: of one layout, and of axes of which no value is legal.
#include <fmt/format.h>

#include <algorithm>

#include "binders.hpp"
#include "windtunnel/model/layout_rules.hpp"

namespace windtunnel::input {
namespace {

using model::Layout;
using model::LayoutRules;
using model::VerdictReason;

/// The key of `train.layout` or `train.published` that a rule is about first.
std::string_view key_of(VerdictReason rule) {
    switch (rule) {
        case VerdictReason::more_cards_than_cluster:
        case VerdictReason::world_size_not_divisible:
            return "cards";
        case VerdictReason::expert_groups_not_divisible:
        case VerdictReason::experts_not_divisible:
        case VerdictReason::experts_without_moe:
            return "expert_parallel";
        case VerdictReason::heads_not_divisible:
        case VerdictReason::kv_heads_not_divisible:
        case VerdictReason::ffn_not_divisible:
        case VerdictReason::vocabulary_not_divisible:
            return "tensor_parallel";
        case VerdictReason::layers_not_divisible:
        case VerdictReason::odd_pipeline:
            return "pipeline_parallel";
        case VerdictReason::virtual_stages_without_interleaving:
            return "virtual_pipeline";
        case VerdictReason::micro_batches_not_divisible:
        case VerdictReason::batch_not_divisible:
            return "global_batch_size";
        case VerdictReason::sequence_not_divisible:
            return "context_parallel";
        case VerdictReason::sharding_not_supported:
            return "optimizer_sharding";
        case VerdictReason::precision_not_supported:
        case VerdictReason::fits:
        case VerdictReason::above_limit:
        case VerdictReason::out_of_memory:
            break;
    }
    return {};
}

std::string precision_word(model::Precision precision) {
    constexpr std::string_view words[] = {"fp32", "tf32", "fp16", "bf16", "fp8", "mxfp8", "nvfp4", "int8"};
    return std::string{words[static_cast<std::size_t>(precision)]};
}

class RuleCheck {
public:
    RuleCheck(const model::Plan& plan, const Values& values, Findings& findings)
        : plan_{plan},
          values_{values},
          findings_{findings},
          rules_{plan.transformer, plan.cluster, plan.training->sequence_length, plan.training->precision,
                 plan.training->methods} {}

    void precision() {
        if (!rules_.breaks(Layout{}, VerdictReason::precision_not_supported)) return;
        std::string known;
        for (int p = 0; p < model::num_precisions; ++p)
            if (plan_.cluster.accelerator.peak(static_cast<model::Precision>(p)).value() > 0.0)
                known += (known.empty() ? "" : ", ") + precision_word(static_cast<model::Precision>(p));
        add({"train.precision"},
            fmt::format("{} has no matrix unit for {}", plan_.cluster.accelerator.id, values_.text("train.precision")),
            "one of " + known);
    }

    /// Every rule that this one layout breaks.
    void layout(const Layout& layout, std::string_view section) {
        for (int number = 1; number < model::num_verdict_reasons; ++number) {
            const auto rule = static_cast<VerdictReason>(number);
            if (rule == VerdictReason::precision_not_supported || !rules_.breaks(layout, rule)) continue;
            const std::string key{key_of(rule)};
            std::vector<std::string> places{fmt::format("{}.{}", section, key), "train.layout." + key, "train." + key};
            if (rule == VerdictReason::virtual_stages_without_interleaving)
                places.insert(places.begin() + 1, fmt::format("{}.pipeline_schedule", section));
            if (rule == VerdictReason::sequence_not_divisible && layout.context_parallel == 1)
                places = {fmt::format("{}.tensor_parallel", section), "train.layout.tensor_parallel"};
            if (rule == VerdictReason::ffn_not_divisible && layout.expert_tensor_parallel > 1)
                places.insert(places.begin(), fmt::format("{}.expert_tensor_parallel", section));
            add(places, rules_.detail(layout, rule), {});
        }
    }

    /// An axis of which every value breaks a rule that depends on this axis alone.
    template <class Value>
    void axis(const char* key, const model::Axis<Value>& axis, std::initializer_list<VerdictReason> alone,
              Value Layout::*member) {
        if (axis.any || axis.values.empty()) return;
        const auto broken = [&](Value value) {
            Layout layout;
            layout.cards = plan_.cluster.num_cards();
            layout.sequence_parallel = false;
            layout.*member = value;
            for (const VerdictReason rule : alone)
                if (rules_.breaks(layout, rule)) return rule;
            return VerdictReason::fits;
        };
        if (std::any_of(axis.values.begin(), axis.values.end(),
                        [&](Value value) { return broken(value) == VerdictReason::fits; }))
            return;
        Layout layout;
        layout.cards = plan_.cluster.num_cards();
        layout.*member = axis.values.back();
        const std::string many = axis.values.size() == 1
                                     ? std::string{}
                                     : fmt::format("no value of the axis is legal; of {}: ", axis.values.back());
        add({fmt::format("train.layout.{}", key)}, many + rules_.detail(layout, broken(axis.values.back())), {});
    }

    /// Depths of pipeline and chunks: every pair of values is illegal.
    void depths(const model::LayoutSpace& space) {
        const auto &pp = space.pipeline_parallel, &vpp = space.virtual_pipeline;
        if (pp.any || vpp.any || pp.values.size() * vpp.values.size() > 1'000'000) return;
        Layout layout;
        layout.split = space.split;
        for (const int ranks : pp.values)
            for (const int chunks : vpp.values) {
                layout.pipeline_parallel = ranks;
                layout.virtual_pipeline = chunks;
                if (!rules_.breaks(layout, VerdictReason::layers_not_divisible)) return;
            }
        add({"train.layout.pipeline_parallel", "train.layout.virtual_pipeline", "train.layout.pipeline_split"},
            rules_.detail(layout, VerdictReason::layers_not_divisible), {});
    }

private:
    /// At the first of the keys that is given, else at the first one.
    void add(const std::vector<std::string>& keys, std::string message, std::string expected) {
        for (const std::string& key : keys)
            if (const auto found = values_.values.find(key); found != values_.values.end() && found->second.given)
                return findings_.push_back(
                    finding_at(found->second.place, key, std::move(message), std::move(expected)));
        findings_.push_back(finding_at(values_.place, keys.front(), std::move(message), std::move(expected)));
    }

    const model::Plan& plan_;
    const Values& values_;
    Findings& findings_;
    LayoutRules rules_;
};

/// The layout of a space of one point; "any" cards count as the whole cluster.
std::optional<Layout> only_layout(const model::LayoutSpace& space, const model::Cluster& cluster) {
    const bool one = space.tensor_parallel.fixed() && space.pipeline_parallel.fixed() &&
                     space.virtual_pipeline.fixed() && space.context_parallel.fixed() &&
                     space.expert_parallel.fixed() && space.expert_tensor_parallel.fixed() &&
                     space.micro_batch_size.fixed() && space.global_batch_size.fixed() && space.recompute.fixed() &&
                     space.schedule.fixed() && space.optimizer_sharding.fixed() && space.cards.fixed();
    if (!one) return std::nullopt;
    Layout layout;
    layout.cards = space.cards.any ? cluster.num_cards() : space.cards.values.front();
    layout.tensor_parallel = space.tensor_parallel.values.front();
    layout.pipeline_parallel = space.pipeline_parallel.values.front();
    layout.virtual_pipeline = space.virtual_pipeline.values.front();
    layout.context_parallel = space.context_parallel.values.front();
    layout.expert_parallel = space.expert_parallel.values.front();
    layout.expert_tensor_parallel = space.expert_tensor_parallel.values.front();
    layout.micro_batch_size = space.micro_batch_size.values.front();
    layout.global_batch_size = space.global_batch_size.values.front();
    layout.recompute = space.recompute.values.front();
    layout.schedule = space.schedule.values.front();
    layout.optimizer_sharding = space.optimizer_sharding.values.front();
    layout.sequence_parallel = space.sequence_parallel;
    layout.split = space.split;
    return layout;
}

}  // namespace

void check_layout_rules(const model::Plan& plan, const Values& values, Findings& findings) {
    RuleCheck check{plan, values, findings};
    const model::LayoutSpace& space = plan.training->layout;
    check.precision();
    if (plan.training->published) check.layout(*plan.training->published, "train.published");
    if (const auto layout = only_layout(space, plan.cluster)) {
        check.layout(*layout, "train.layout");
        return;
    }
    using enum VerdictReason;
    check.axis("cards", space.cards, {more_cards_than_cluster}, &Layout::cards);
    check.axis("tensor_parallel", space.tensor_parallel,
               {heads_not_divisible, kv_heads_not_divisible, ffn_not_divisible, vocabulary_not_divisible},
               &Layout::tensor_parallel);
    check.axis("context_parallel", space.context_parallel, {sequence_not_divisible}, &Layout::context_parallel);
    check.axis("expert_parallel", space.expert_parallel, {experts_not_divisible, experts_without_moe},
               &Layout::expert_parallel);
    check.axis("expert_tensor_parallel", space.expert_tensor_parallel, {ffn_not_divisible, experts_without_moe},
               &Layout::expert_tensor_parallel);
    check.depths(space);
}

}  // namespace windtunnel::input
