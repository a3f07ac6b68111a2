#pragma once
/// One deployment on one load: replications of the event loop, each with its own random numbers.
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "windtunnel/base/moments.hpp"
#include "windtunnel/model/plan.hpp"
#include "windtunnel/serve/metrics.hpp"
#include "windtunnel/serve/plan_system.hpp"
#include "windtunnel/study/study.hpp"
#include "windtunnel/study/trials.hpp"

namespace windtunnel::study {

inline constexpr std::array serve_fractions{0.5, 0.9, 0.95, 0.99};
inline constexpr int num_latency_statistics = 1 + static_cast<int>(serve_fractions.size());  ///< the mean in front

/// What a run gives as one number.
enum class ServeMeasure {
    requests_per_s,
    output_tokens_per_s,
    total_tokens_per_s,
    output_tokens_per_s_per_card,
    goodput,
    good_share,
    refused_share,
    in_system,
    waiting,
    busy_share,
    block_share,
    peak_block_share,
    preemptions_per_request,
    recomputed_share,
    hit_share,
    cards,
    usd_per_million_tokens,
    joules_per_token,
    duration_s,
    saturated,
    limit_load,
    limit_scheduler,
    limit_engine,
    limit_memory,
    limit_link,
};
inline constexpr int num_serve_measures = 25;
struct MeasureText {
    std::string name, units, long_name;
};
[[nodiscard]] MeasureText text_of(ServeMeasure measure);

/// Partial result and state alike.
struct ServeSums {
    std::uint64_t trials = 0, requests = 0, steps = 0;
    std::array<std::array<base::Moments, num_latency_statistics>, serve::num_latencies> latency;
    std::array<base::Moments, num_serve_measures> measures;
    std::array<serve::Histogram, serve::num_latencies> pooled;

    void merge(const ServeSums& other);
    void pack(base::Packer& packer) const;
    [[nodiscard]] static ServeSums unpack(base::Unpacker& unpacker);
};

/// 95 % interval over replications (Student's t); NaN with fewer than two.
[[nodiscard]] Estimate replicated(const base::Moments& moments);

struct ServeAnswer {
    serve::PlanSystem system;
    ServeSums sums;
    bool half_width_reached = true;
    bool same_every_time = false;  ///< nothing is drawn: replications are equal
    [[nodiscard]] bool feasible() const noexcept { return system.feasible(); }
    [[nodiscard]] const base::Moments& measure(ServeMeasure which) const {
        return sums.measures[static_cast<std::size_t>(which)];
    }
};

struct ServeOptions {
    StopRule stop;  ///< trials empty and no half-width: 8, or one where nothing is drawn
};

class ServeStudy {
public:
    /// The plan must have [serve] and outlive the study.
    explicit ServeStudy(const model::Plan& plan, const ServeOptions& options = {});

    using Partial = ServeSums;
    struct State {
        ServeSums sums;
        std::uint32_t rounds_done = 0;
        std::uint64_t blocks = 0;
    };

    [[nodiscard]] std::string identity() const { return identity_; }
    [[nodiscard]] State start() const { return {}; }
    [[nodiscard]] std::optional<Round> next_round(const State& state) const;
    [[nodiscard]] std::string round_context(const State&, const Round&) const { return {}; }
    [[nodiscard]] Partial evaluate(const Round& round, ItemRange items, std::string_view context) const;
    void merge(Partial& partial, const Partial& other) const { partial.merge(other); }
    [[nodiscard]] std::string pack(const Partial& partial) const;
    [[nodiscard]] Partial unpack(std::string_view bytes) const;
    void absorb(State& state, const Round& round, std::uint64_t block, const Partial& partial) const;
    [[nodiscard]] std::vector<store::Table> tables(const State& state) const;
    [[nodiscard]] std::vector<store::TableSchema> bulk_tables() const { return {}; }
    [[nodiscard]] std::vector<store::Table> bulk_rows(const Round&, const Partial&) const { return {}; }
    [[nodiscard]] std::string part_refusal() const;

    [[nodiscard]] ServeAnswer answer(const State& state) const;
    /// One replication; each request that ends goes to `each`.
    [[nodiscard]] serve::RunMetrics run(std::uint64_t trial,
                                        const std::function<void(const serve::Served&)>& each = {}) const;

private:
    [[nodiscard]] bool narrow_enough(const ServeSums& sums) const;

    const model::Plan* plan_;
    StopRule stop_;
    std::string identity_;
    serve::PlanSystem system_;
    bool same_every_time_ = false;
};

}  // namespace windtunnel::study
