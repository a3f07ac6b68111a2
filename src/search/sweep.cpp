#include "windtunnel/search/sweep.hpp"

#include <algorithm>
#include <span>
#include <unordered_map>

#include "windtunnel/base/contracts.hpp"
#include "windtunnel/base/errors.hpp"
#include "windtunnel/model/layout_rules.hpp"
#include "windtunnel/train/rules.hpp"

namespace windtunnel::search {
namespace {

using model::VerdictReason;

/// Rules whose values are all known once the digit of the axis is read.
std::span<const VerdictReason> rules_at(AxisName axis) noexcept {
    using enum VerdictReason;
    static constexpr VerdictReason tensor[] = {precision_not_supported, heads_not_divisible, kv_heads_not_divisible,
                                               vocabulary_not_divisible};
    static constexpr VerdictReason context[] = {sequence_not_divisible};
    static constexpr VerdictReason expert[] = {experts_not_divisible};
    static constexpr VerdictReason expert_tensor[] = {experts_without_moe, ffn_not_divisible};
    static constexpr VerdictReason sharding[] = {sharding_not_supported};
    static constexpr VerdictReason chunks[] = {layers_not_divisible};
    static constexpr VerdictReason schedule[] = {virtual_stages_without_interleaving, odd_pipeline};
    static constexpr VerdictReason cards[] = {more_cards_than_cluster, world_size_not_divisible,
                                              expert_groups_not_divisible};
    static constexpr VerdictReason batch[] = {micro_batches_not_divisible, batch_not_divisible};
    switch (axis) {
        case AxisName::tensor_parallel:
            return tensor;
        case AxisName::context_parallel:
            return context;
        case AxisName::expert_parallel:
            return expert;
        case AxisName::expert_tensor_parallel:
            return expert_tensor;
        case AxisName::optimizer_sharding:
            return sharding;
        case AxisName::virtual_pipeline:
            return chunks;
        case AxisName::schedule:
            return schedule;
        case AxisName::cards:
            return cards;
        case AxisName::global_batch_size:
            return batch;
        case AxisName::pipeline_parallel:
        case AxisName::micro_batch_size:
        case AxisName::recompute:
            break;
    }
    return {};
}

[[noreturn]] void refuse(std::string field, std::string message, std::string expected) {
    throw base::InputError{{{"", 0, 0, std::move(field), std::move(message), std::move(expected)}}};
}

const model::Training& training_of(const model::Plan& plan) {
    if (!plan.training) refuse("train", "the plan has no [train] section", "a [train] section with a layout");
    return *plan.training;
}

}  // namespace

/// Unit costs of every combination of the axes that they depend on; made at once when they are few, else as they come.
class Sweep::UnitCostTable {
public:
    static constexpr std::uint64_t most_entries = 8192;

    UnitCostTable(const train::Job& job, const DesignSpace& space) {
        for (const AxisName axis : axes) num_keys_ *= radix(space, axis);
        if (num_keys_ > most_entries) return;
        costs_.resize(num_keys_);
        const model::LayoutRules rules{job.transformer, job.cluster, job.sequence_length, job.precision, job.methods};
        for (std::uint64_t key = 0; key < num_keys_; ++key) {
            model::Layout layout = space.common();
            std::uint64_t rest = key;
            for (const AxisName axis : axes) {
                const std::uint64_t digit = rest % radix(space, axis);
                const bool is_pipeline = axis == AxisName::pipeline_parallel;
                set_value(layout, axis, is_pipeline ? static_cast<std::int64_t>(digit + 1) : space.values(axis)[digit]);
                rest /= radix(space, axis);
            }
            bool legal = true;
            for (const AxisName axis : axes)
                for (const VerdictReason rule : rules_at(axis)) legal = legal && !rules.breaks(layout, rule);
            if (legal) costs_[key] = train::unit_costs(job, train::unit_key(layout));
        }
    }

    /// Number of a combination, from the digits of its axes.
    template <class Digits>
    [[nodiscard]] static std::uint64_t key_of(const Digits& digits, const model::Layout& layout,
                                              const DesignSpace& space) noexcept {
        std::uint64_t key = 0, weight = 1;
        for (const AxisName axis : axes) {
            const bool is_pipeline = axis == AxisName::pipeline_parallel;
            key += weight *
                   (is_pipeline ? (layout.pipeline_parallel > 1 ? 1 : 0) : digits[static_cast<std::size_t>(axis)]);
            weight *= radix(space, axis);
        }
        return key;
    }
    [[nodiscard]] bool whole() const noexcept { return !costs_.empty(); }
    [[nodiscard]] const train::UnitCosts& at(std::uint64_t key) const noexcept { return costs_[key]; }

private:
    static constexpr std::array axes{AxisName::recompute,         AxisName::micro_batch_size,
                                     AxisName::pipeline_parallel, AxisName::expert_tensor_parallel,
                                     AxisName::expert_parallel,   AxisName::context_parallel,
                                     AxisName::tensor_parallel};
    /// Of a pipeline matters only whether there is one.
    [[nodiscard]] static std::uint64_t radix(const DesignSpace& space, AxisName axis) noexcept {
        return axis == AxisName::pipeline_parallel ? 2 : space.values(axis).size();
    }

    std::uint64_t num_keys_ = 1;
    std::vector<train::UnitCosts> costs_;
};

/// One walk: digits of the design at hand, its layout, and the memory that the kernels use again and again.
class Sweep::Walker {
public:
    Walker(const Sweep& sweep, KeepRows keep)
        : sweep_{sweep},
          space_{sweep.space_},
          rules_{sweep.job_.transformer, sweep.job_.cluster, sweep.job_.sequence_length, sweep.job_.precision,
                 sweep.job_.methods},
          keep_{keep},
          usable_{train::usable_memory(sweep.job_)},
          layout_{space_.common()},
          result_{sweep.nothing()} {}

    [[nodiscard]] SweepResult run(std::uint64_t begin, std::uint64_t end) && {
        start_at(begin);
        std::uint64_t index = begin;
        int level = 0;  // the first digit that has changed
        while (index < end) {
            VerdictReason reason = VerdictReason::fits;
            for (; level < num_axes; ++level) {
                set_digit(level);
                reason = broken_at(static_cast<AxisName>(level));
                if (reason != VerdictReason::fits) break;
            }
            if (level == num_axes) {
                reason = evaluate(index);
                level = num_axes - 1;
            }
            const std::uint64_t weight = space_.weight(static_cast<AxisName>(level));
            if (reason == VerdictReason::batch_not_divisible) skip_batches(level);
            // The range ends where the digit changes; a walk may begin in the middle of it.
            const std::uint64_t next = (index / weight + 1 + skipped_) * weight;
            const std::uint64_t stop = std::min(next, end);
            result_.designs[static_cast<std::size_t>(reason)] += stop - index;
            index = stop;
            level = advance(level);
        }
        return std::move(result_);
    }

private:
    void start_at(std::uint64_t index) noexcept {
        for (int axis = 0; axis < num_axes; ++axis) {
            const std::uint64_t weight = space_.weight(static_cast<AxisName>(axis));
            digits_[static_cast<std::size_t>(axis)] = index / weight;
            index %= weight;
        }
    }
    void set_digit(int level) noexcept {
        const auto axis = static_cast<AxisName>(level);
        set_value(layout_, axis, space_.values(axis)[digits_[static_cast<std::size_t>(level)]]);
    }
    [[nodiscard]] VerdictReason broken_at(AxisName axis) const noexcept {
        for (const VerdictReason rule : rules_at(axis))
            if (rules_.breaks(layout_, rule)) return rule;
        if (axis == AxisName::tensor_parallel && !sweep_.model_within_limits_) return VerdictReason::above_limit;
        if (axis == AxisName::cards && sweep_.max_power_ && sweep_.valuation_.power(layout_) > *sweep_.max_power_)
            return VerdictReason::above_limit;
        return VerdictReason::fits;
    }
    /// The next batch that divides may be many digits away: those between break the same rule.
    void skip_batches(int level) noexcept {
        const auto& values = space_.values(AxisName::global_batch_size);
        std::uint64_t& digit = digits_[static_cast<std::size_t>(level)];
        const std::int64_t unit = std::int64_t{layout_.micro_batch_size} * layout_.data_parallel();
        if (unit < 1) return;
        while (digit + 1 < values.size() && values[digit + 1] % unit != 0) {
            ++digit;
            ++skipped_;
        }
    }
    /// To the next value of this digit, with carry; the digits behind it begin anew. Gives the first digit that
    /// changed.
    [[nodiscard]] int advance(int level) noexcept {
        skipped_ = 0;
        std::fill(digits_.begin() + level + 1, digits_.end(), 0);
        for (; level >= 0; --level) {
            std::uint64_t& digit = digits_[static_cast<std::size_t>(level)];
            if (++digit < space_.values(static_cast<AxisName>(level)).size()) return level;
            digit = 0;
        }
        return 0;
    }

    [[nodiscard]] const train::UnitCosts& costs() {
        const std::uint64_t key = UnitCostTable::key_of(digits_, layout_, space_);
        if (sweep_.costs_->whole()) return sweep_.costs_->at(key);
        if (last_ != nullptr && key == last_key_) return *last_;
        if (memo_.size() >= UnitCostTable::most_entries) memo_.clear();
        const auto [at, is_new] = memo_.try_emplace(key);
        if (is_new) at->second = train::unit_costs(sweep_.job_, train::unit_key(layout_));
        last_key_ = key;
        return *(last_ = &at->second);
    }

    /// A design that breaks no rule.
    [[nodiscard]] VerdictReason evaluate(std::uint64_t index) {
        const train::UnitCosts& unit = costs();
        ++result_.reached_memory;
        const Bytes memory = train::fullest_stage(sweep_.job_, layout_, unit, workspace_.held_chunks).total;
        if (memory > usable_) return VerdictReason::out_of_memory;
        const Seconds step = train::closed_form_step_time(sweep_.job_, layout_, unit, workspace_);
        if (sweep_.max_usd_ && sweep_.valuation_.cost(layout_, step) > *sweep_.max_usd_ * (1.0 + sweep_.margin_))
            return VerdictReason::above_limit;
        result_.best.add({sweep_.valuation_.score(sweep_.objective_, layout_, step, memory), index});
        result_.sample.add(index);
        if (!sweep_.front_measures_.empty()) result_.front.add(sweep_.front_point(index, layout_, step, memory));
        if (keep_ == KeepRows::yes) {
            result_.row_index.push_back(index);
            result_.row_step_time_s.push_back(step.value());
            result_.row_memory_bytes.push_back(memory.value());
        }
        return VerdictReason::fits;
    }

    const Sweep& sweep_;
    const DesignSpace& space_;
    model::LayoutRules rules_;
    KeepRows keep_;
    Bytes usable_;
    model::Layout layout_;
    std::array<std::uint64_t, num_axes> digits_{};
    std::uint64_t skipped_ = 0;  ///< batches behind the one at hand that break the same rule
    train::StepWorkspace workspace_;
    std::unordered_map<std::uint64_t, train::UnitCosts> memo_;
    const train::UnitCosts* last_ = nullptr;
    std::uint64_t last_key_ = 0;
    SweepResult result_;
};

void SweepResult::merge(const SweepResult& other) {
    for (std::size_t reason = 0; reason < designs.size(); ++reason) designs[reason] += other.designs[reason];
    reached_memory += other.reached_memory;
    best.merge(other.best);
    sample.merge(other.sample);
    front.merge(other.front);
    row_index.insert(row_index.end(), other.row_index.begin(), other.row_index.end());
    row_step_time_s.insert(row_step_time_s.end(), other.row_step_time_s.begin(), other.row_step_time_s.end());
    row_memory_bytes.insert(row_memory_bytes.end(), other.row_memory_bytes.begin(), other.row_memory_bytes.end());
}

void SweepResult::pack(base::Packer& packer) const {
    for (const std::uint64_t count : designs) packer.put(count);
    packer.put(reached_memory);
    best.pack(packer);
    sample.pack(packer);
    front.pack(packer);
    packer.put(row_index);
    packer.put(row_step_time_s);
    packer.put(row_memory_bytes);
}

void SweepResult::unpack(base::Unpacker& unpacker) {
    for (std::uint64_t& count : designs) count = unpacker.get<std::uint64_t>();
    reached_memory = unpacker.get<std::uint64_t>();
    best.unpack(unpacker);
    sample.unpack(unpacker);
    front.unpack(unpacker);
    row_index = unpacker.get_vector<std::uint64_t>();
    row_step_time_s = unpacker.get_vector<double>();
    row_memory_bytes = unpacker.get_vector<double>();
    if (row_index.size() != row_step_time_s.size() || row_index.size() != row_memory_bytes.size())
        throw base::PackError{"packed rows have unequal lengths"};
}

Sweep::Sweep(const model::Plan& plan)
    : job_{(static_cast<void>(training_of(plan)), train::job_of(plan))},
      space_{plan.training->layout, plan.transformer, plan.cluster, plan.training->sequence_length},
      valuation_{valuation_of(plan)},
      objective_{measure_of(plan.search.objective)},
      margin_{plan.search.margin},
      max_usd_{plan.search.max_usd},
      max_power_{plan.search.max_power} {
    check_measure(plan, objective_, "search.objective");
    if (max_usd_) check_measure(plan, Measure::cost, "search.limits.usd");
    if (max_power_ && !(plan.cluster.accelerator.power.value() > 0.0))
        refuse("search.limits.kw", "a limit on power needs the accelerator's power, which is not given",
               "for example power = \"700 W\"");
    if (plan.search.top < 1 || static_cast<std::size_t>(plan.search.top) > BestList::default_capacity)
        refuse("search.top", std::to_string(plan.search.top) + " designs cannot be kept",
               "1 to " + std::to_string(BestList::default_capacity));
    if (!(margin_ >= 0.0 && margin_ <= 10.0))
        refuse("search.margin", std::to_string(margin_) + " is no margin", "a fraction from 0 to 10");
    top_ = static_cast<std::size_t>(plan.search.top);
    for (const std::string& name : plan.search.pareto) {
        const auto measure = measure_of(name);
        if (!measure)
            refuse("search.pareto", "\"" + name + "\" is no measure",
                   "tokens_per_second, step_time, time_to_tokens, memory, cards, cost or energy");
        check_measure(plan, *measure, "search.pareto");
        if (std::find(front_measures_.begin(), front_measures_.end(), *measure) == front_measures_.end())
            front_measures_.push_back(*measure);
    }
    if (front_measures_.size() > static_cast<std::size_t>(most_front_measures))
        refuse("search.pareto", std::to_string(front_measures_.size()) + " measures are too many",
               "at most " + std::to_string(most_front_measures));
    const model::ParameterCount parameters = model::parameter_count(plan.transformer);
    const auto above = [](std::int64_t count, const std::optional<double>& most) {
        return most && static_cast<double>(count) > *most;
    };
    model_within_limits_ = !above(parameters.total(), plan.search.max_parameters) &&
                           !above(parameters.activated(), plan.search.max_activated_parameters);
    costs_ = std::make_unique<const UnitCostTable>(job_, space_);
}

Sweep::~Sweep() = default;

SweepResult Sweep::nothing() const {
    SweepResult result;
    result.best = BestList{top_, margin_};
    return result;
}

SweepResult Sweep::walk(std::uint64_t begin, std::uint64_t end, KeepRows keep) const {
    base::expects(begin <= end && end <= space_.size(), "the range lies in the space");
    SweepResult result = Walker{*this, keep}.run(begin, end);
    result.best.tidy();
    return result;
}

Seconds Sweep::step_time(std::uint64_t index, train::StepWorkspace& workspace) const {
    const model::Layout layout = space_.layout(index);
    return train::step_time(job_, layout, train::unit_costs(job_, train::unit_key(layout)), workspace);
}

Seconds Sweep::closed_form(std::uint64_t index, train::StepWorkspace& workspace) const {
    const model::Layout layout = space_.layout(index);
    return train::closed_form_step_time(job_, layout, train::unit_costs(job_, train::unit_key(layout)), workspace);
}

train::FullestStage Sweep::fullest_stage(std::uint64_t index) const {
    const model::Layout layout = space_.layout(index);
    return train::fullest_stage(job_, layout, train::unit_costs(job_, train::unit_key(layout)));
}

bool Sweep::within_limits(const model::Layout& layout, Seconds step_time) const noexcept {
    return !max_usd_ || valuation_.cost(layout, step_time) <= *max_usd_;
}

FrontPoint Sweep::front_point(std::uint64_t index, const model::Layout& layout, Seconds step_time,
                              Bytes memory) const noexcept {
    FrontPoint point;
    point.index = index;
    for (std::size_t i = 0; i < front_measures_.size(); ++i)
        point.scores[i] = valuation_.score(front_measures_[i], layout, step_time, memory);
    return point;
}

}  // namespace windtunnel::search
