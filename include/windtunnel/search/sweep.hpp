#pragma once
/// Walks ranges of a design space: verdict, memory and closed form of every design, executor time of single ones.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "windtunnel/model/plan.hpp"
#include "windtunnel/model/verdict.hpp"
#include "windtunnel/search/design_space.hpp"
#include "windtunnel/search/measures.hpp"
#include "windtunnel/search/selection.hpp"
#include "windtunnel/train/step.hpp"

namespace windtunnel::search {

/// Does a walk keep every design that fits, or only the best ones?
enum class KeepRows { no, yes };

/// What a walk over a range found; walks over neighbouring ranges merge.
struct SweepResult {
    std::array<std::uint64_t, model::num_verdict_reasons> designs{};  ///< by verdict; sums to the range
    std::uint64_t reached_memory = 0;                                 ///< designs whose memory was computed, one by one
    BestList best;
    Sample sample;
    Front front;
    /// Every design that fits, by index; empty unless KeepRows::yes.
    std::vector<std::uint64_t> row_index;
    std::vector<double> row_step_time_s, row_memory_bytes;

    [[nodiscard]] std::uint64_t fitting() const noexcept { return designs[0]; }
    void merge(const SweepResult& other);
    void pack(base::Packer& packer) const;
    void unpack(base::Unpacker& unpacker);
};

/// A design space with everything that its walks share. Immutable once made; any number of threads may walk.
///
/// Model:   a design counts under the first rule that it breaks, axes in digit order; a broken rule counts the whole
/// range of
///          numbers that share the digits read so far. Designs that break none get their memory, those that fit their
///          closed form. Costs that depend on tp, cp, ep, etp, micro-batch and recompute only are computed once.
/// Limits:  a limit on money is applied to the closed form with the margin as slack, and again to the executor's time.
class Sweep {
public:
    /// Throws base::InputError. Expects plan.training.
    explicit Sweep(const model::Plan& plan);
    Sweep(const Sweep&) = delete;
    Sweep& operator=(const Sweep&) = delete;
    ~Sweep();

    [[nodiscard]] const DesignSpace& space() const noexcept { return space_; }
    [[nodiscard]] const train::Job& job() const noexcept { return job_; }
    [[nodiscard]] const Valuation& valuation() const noexcept { return valuation_; }
    [[nodiscard]] Measure objective() const noexcept { return objective_; }
    [[nodiscard]] const std::vector<Measure>& front_measures() const noexcept { return front_measures_; }
    [[nodiscard]] std::size_t top() const noexcept { return top_; }
    [[nodiscard]] double margin() const noexcept { return margin_; }

    /// An empty result to merge into.
    [[nodiscard]] SweepResult nothing() const;
    /// Numbers begin to end (not included) of the space.
    [[nodiscard]] SweepResult walk(std::uint64_t begin, std::uint64_t end, KeepRows keep = KeepRows::no) const;

    /// The executor's step time of a design that fits.
    [[nodiscard]] Seconds step_time(std::uint64_t index, train::StepWorkspace& workspace) const;
    [[nodiscard]] Seconds closed_form(std::uint64_t index, train::StepWorkspace& workspace) const;
    [[nodiscard]] train::FullestStage fullest_stage(std::uint64_t index) const;
    /// Is the executor's time inside the limits of the plan?
    [[nodiscard]] bool within_limits(const model::Layout& layout, Seconds step_time) const noexcept;
    [[nodiscard]] FrontPoint front_point(std::uint64_t index, const model::Layout& layout, Seconds step_time,
                                         Bytes memory) const noexcept;

private:
    class Walker;
    class UnitCostTable;

    train::Job job_;
    DesignSpace space_;
    Valuation valuation_;
    Measure objective_;
    std::vector<Measure> front_measures_;
    std::size_t top_ = 1;
    double margin_ = 0.0;
    bool model_within_limits_ = true;
    std::optional<Usd> max_usd_;
    std::optional<Watts> max_power_;
    std::unique_ptr<const UnitCostTable> costs_;
};

}  // namespace windtunnel::search
