/// Pipeline schedules against each other: AMD Primus printed, for two machines, tokens/s and memory of one model under
/// several schedules, without sequence length, micro-batch and batch. Each table is run with ONE assumed set of the
/// three; ratios within a table depend on it only through the number of micro-batches and the shares of F, B and W.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "windtunnel/input/records.hpp"
#include "windtunnel/train/memory.hpp"
#include "windtunnel/train/step.hpp"
#include "windtunnel/validate/train_rows.hpp"

namespace windtunnel::validate {
namespace {

/// What the table does not print.
struct Assumed {
    int sequence, micro_batch;
    std::int64_t global_batch;
};

struct Outcome {
    double tokens_per_s = 0.0;  ///< of a card
    double memory = 0.0;        ///< bytes allocated on the fullest rank
    double usable = 0.0;        ///< bytes of a card
    double printed_tokens_per_s = 0.0, printed_memory = 0.0;
    [[nodiscard]] double speed_to(const Outcome& base) const { return tokens_per_s / base.tokens_per_s; }
    [[nodiscard]] double printed_speed_to(const Outcome& base) const {
        return printed_tokens_per_s / base.printed_tokens_per_s;
    }
};

/// Rows of a table by the end of their id.
std::map<std::string, Outcome> outcomes(const std::string& table, const Assumed& assumed) {
    const model::Measurements all = input::read_measurements(WINDTUNNEL_SOURCE_DIR "/inputs", {});
    std::map<std::string, Outcome> of;
    for (model::PublishedRow row : all.rows) {
        if (!row.id.starts_with(table)) continue;
        row.sequence = assumed.sequence;
        row.mbs = assumed.micro_batch;
        row.gbs = assumed.global_batch;
        const RowJob job = row_job(row, all);
        EXPECT_EQ(job.problem, "") << row.id;
        if (!job.problem.empty()) continue;
        const train::UnitCosts costs = train::unit_costs(job.job, train::unit_key(job.layout));
        Outcome& outcome = of[row.id.substr(table.size())];
        outcome.tokens_per_s =
            train::step_result(job.job, job.layout, costs).tokens_per_second / static_cast<double>(job.layout.cards);
        for (const train::StageMemory& rank : train::stage_memory(job.job, job.layout, costs))
            outcome.memory = std::max(outcome.memory, rank.allocated().value());
        outcome.usable = job.job.cluster.accelerator.memory.value();
        outcome.printed_tokens_per_s = row.tokens_per_s_per_card.value_or(0.0);
        outcome.printed_memory = row.memory_gb.value_or(0.0);
    }
    return of;
}

TEST(PrimusSchedules, OnMI300XToOneFOneB) {
    // Llama 2 7B on 8 cards, pp 8. Assumed: 4,096 tokens, micro-batch 1, batch 32. Measured tokens/s to 1F1B:
    // interleaved 1.091, ZB-1P 1.135, ZB-V 1.128; memory 1.32, 1.02, 1.11. Which of the two zero-bubble schedules is
    // ahead (by 0.6 % in the table) is not reproduced.
    const auto of = outcomes("primus_mi300x_llama2_7b_", {4096, 1, 32});
    ASSERT_EQ(of.size(), 4U);
    const Outcome& base = of.at("1f1b");
    for (const char* name : {"interleaved1f1b", "zb1pzbb", "zbv"}) {
        const Outcome& outcome = of.at(name);
        EXPECT_GT(outcome.speed_to(base), 1.0) << name;
        EXPECT_NEAR(outcome.speed_to(base) / outcome.printed_speed_to(base), 1.0, 0.05) << name;
        EXPECT_GT(outcome.memory, base.memory) << name;
    }
    EXPECT_LT(of.at("interleaved1f1b").speed_to(base), of.at("zb1pzbb").speed_to(base));
    EXPECT_LT(of.at("interleaved1f1b").speed_to(base), of.at("zbv").speed_to(base));
    EXPECT_LT(of.at("zb1pzbb").memory, of.at("zbv").memory);
    EXPECT_LT(of.at("zbv").memory, of.at("interleaved1f1b").memory);
}

TEST(PrimusSchedules, OnMI355XToVHalf) {
    // Qwen3 235B on 32 cards, pp 4, ep 8. Assumed: 4,096 tokens, micro-batch 2, batch 512. Measured tokens/s to V-half:
    // V-min 0.755, interleaved with 3 and 4 chunks 1.034 and 1.038; memory 0.89, 1.11, 1.08; 2 chunks do not fit.
    // Without recompute, as assumed, 3 and 4 chunks are above the 288 GB too: only the order is checked.
    const auto of = outcomes("primus_mi355x_qwen235_", {4096, 2, 512});
    ASSERT_EQ(of.size(), 5U);
    const Outcome& base = of.at("vhalf_vpp2");
    for (const char* name : {"vmin_vpp2", "interleaved1f1b_vpp3", "interleaved1f1b_vpp4"}) {
        const Outcome& outcome = of.at(name);
        EXPECT_EQ(outcome.speed_to(base) > 1.0, outcome.printed_speed_to(base) > 1.0) << name;
        EXPECT_NEAR(outcome.speed_to(base) / outcome.printed_speed_to(base), 1.0, 0.05) << name;
        EXPECT_EQ(outcome.memory > base.memory, outcome.printed_memory > base.printed_memory) << name;
    }
    EXPECT_LT(of.at("interleaved1f1b_vpp3").tokens_per_s, of.at("interleaved1f1b_vpp4").tokens_per_s);
    EXPECT_GT(of.at("interleaved1f1b_vpp3").memory, of.at("interleaved1f1b_vpp4").memory);
    EXPECT_GT(of.at("interleaved1f1b_vpp2").memory, of.at("interleaved1f1b_vpp3").memory);
    EXPECT_GT(of.at("interleaved1f1b_vpp2").memory, of.at("interleaved1f1b_vpp2").usable);
}

}  // namespace
}  // namespace windtunnel::validate
