#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "windtunnel/base/hash.hpp"
#include "windtunnel/input/read.hpp"

namespace windtunnel::input {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
const std::string good = std::string{WINDTUNNEL_SOURCE_DIR} + "/tests/input/good/";

std::string findings_of(const std::vector<Override>& overrides, const std::string& plan = "plan.toml") {
    try {
        (void)read_plan(good + plan, overrides);
    } catch (const base::InputError& error) {
        return error.what();
    }
    return {};
}

TEST(ReadPlan, GivesTheValuesOfAllFiles) {
    const model::Plan plan = read_plan(good + "plan.toml", {});
    EXPECT_EQ(plan.seed, 20261201u);
    EXPECT_EQ(plan.cluster.num_cards(), 1024);
    EXPECT_DOUBLE_EQ(plan.cluster.accelerator.scale_out.bandwidth.value(), 50e9);  // the cluster's, not the card's
    EXPECT_DOUBLE_EQ(plan.cluster.accelerator.memory.value(), 64.0 * 1024 * 1024 * 1024);
    EXPECT_DOUBLE_EQ(plan.efficiency.gemm, 0.8);  // the card's own calibration
    ASSERT_TRUE(plan.training && plan.training->published);
    const model::LayoutSpace& space = plan.training->layout;
    EXPECT_TRUE(space.cards.any);
    EXPECT_THAT(space.pipeline_parallel.values, ElementsAre(1, 2, 4, 8));
    EXPECT_THAT(space.global_batch_size.values, ElementsAre(1024, 1152, 1280, 1408, 1536, 1664, 1792, 1920, 2048));
    EXPECT_EQ(plan.training->published->data_parallel(), 64);  // 1024 / (4 x 4)
    EXPECT_EQ(plan.training->published->expert_parallel, 8);
    EXPECT_EQ(plan.failures.components.size(), 3u);
    EXPECT_EQ(plan.failures.components[0].up, (model::Law{model::LawKind::weibull, 0.75, Seconds{2.16e8}}));
    EXPECT_EQ(plan.failures.components[1].source, "another sheet");
    EXPECT_EQ(plan.recovery.ladder.size(), 2u);
    EXPECT_DOUBLE_EQ(plan.search.margin, 0.15);
    EXPECT_DOUBLE_EQ(plan.cost.card.value(), 2.5 / 3600.0);
    ASSERT_EQ(plan.files.size(), 6u);
    EXPECT_EQ(plan.files[0].role, "plan");
    EXPECT_EQ(plan.files[0].hash, base::fnv1a_64(plan.files[0].text));
}

TEST(ReadPlan, ListsDefaultsAndAssumptions) {
    const model::Plan plan = read_plan(good + "plan.toml", {});
    EXPECT_THAT(plan.implicit_defaults, Contains("train.layout.context_parallel = 1"));
    EXPECT_THAT(plan.implicit_defaults, Not(Contains(HasSubstr("layout.tensor_parallel = "))));
    EXPECT_THAT(plan.assumptions, Contains("accelerator.scale_up.latency = 10 us (assumed: no sheet says it)"));
    EXPECT_THAT(plan.resolved_text, Not(HasSubstr("/")));  // no paths
}

TEST(ReadPlan, ACalibrationOfDenseModelsSaysNothingAboutTheErrorOfExperts) {
    const std::string inputs = std::string{WINDTUNNEL_SOURCE_DIR} + "/inputs/";
    const auto plan_with = [&](const std::string& model, const std::string& calibration) {
        const FileProvider provider = [&](const std::string& path) -> FileText {
            if (path != "plan") return read_file(path);
            return {"[plan]\nmodel = \"" + inputs + "models/" + model + ".toml\"\naccelerator = \"" + inputs +
                        "accelerators/h100-80gb-sxm.toml\"\nnodes = 8\n" +
                        (calibration.empty()
                             ? ""
                             : "[calibration]\nfile = \"" + inputs + "calibrations/" + calibration + ".toml\"\n"),
                    {},
                    false};
        };
        return read_plan("plan", {}, provider);
    };
    const model::Plan dense = plan_with("llama31-8b", ""), moe = plan_with("mixtral-8x7b", "");
    const auto error_of = [&](const std::string& calibration) {
        return read_efficiency(inputs + "calibrations/" + calibration + ".toml").step_time_error_90;
    };
    EXPECT_DOUBLE_EQ(dense.efficiency.step_time_error_90, error_of("megatron-core-h100"));
    EXPECT_DOUBLE_EQ(moe.efficiency.step_time_error_90, error_of("megatron-core-h100-moe"));  // named by the card
    EXPECT_GT(error_of("megatron-core-h100"), 0.0);
    EXPECT_NE(error_of("megatron-core-h100"), error_of("megatron-core-h100-moe"));
    const model::Plan wrong = plan_with("mixtral-8x7b", "megatron-core-h100");
    EXPECT_EQ(wrong.efficiency.step_time_error_90, 0.0);
    EXPECT_THAT(wrong.assumptions, Contains(HasSubstr("fitted to dense models only")));
    EXPECT_EQ(plan_with("llama31-8b", "megatron-core-h100-moe").efficiency.step_time_error_90, 0.0);
}

TEST(ReadPlan, SparesOfThePlanAreNoCardsOfAJob) {
    const model::Plan plan =
        read_plan(good + "plan.toml", {{"recovery.spare_nodes", "28"}, {"train.published.cards", "512"}});
    EXPECT_EQ(plan.cluster.num_nodes, 100);
    EXPECT_EQ(plan.cluster.reserved_nodes, 28);
    EXPECT_THAT(plan.resolved_text, HasSubstr("nodes = 128"));
    EXPECT_THAT(findings_of({{"recovery.spare_nodes", "28"}, {"train.published.cards", "1024"}}),
                HasSubstr("1024 cards are more than the cluster has without its spare nodes; nearest: 800"));
}

TEST(ReadPlan, IsCleanOnOneCardAndOn100000) {
    const model::Plan one = read_plan(good + "plan-inline.toml", {});
    EXPECT_EQ(one.cluster.num_cards(), 1);
    EXPECT_DOUBLE_EQ(one.cluster.accelerator.scale_up.latency.value(), 5e-6);
    const model::Plan many = read_plan(good + "plan-inline.toml", {{"cluster.cards", "100000"}});
    EXPECT_EQ(many.cluster.num_cards(), 100000);
    EXPECT_EQ(many.cluster.num_nodes, 12500);
    EXPECT_EQ(read_plan(good + "plan-inline.toml", {{"cluster.cards", "10_000_000"}}).cluster.num_cards(), 10'000'000);
    EXPECT_THAT(findings_of({{"cluster.cards", "10000001"}}, "plan-inline.toml"),
                HasSubstr("10000001 is out of range"));
}

TEST(Override, ReplacesAndAddsKeys) {
    const model::Plan plan = read_plan(good + "plan.toml", {{"plan.seed", "5"},
                                                            {"train.layout.recompute", "full"},
                                                            {"train.layout.tensor_parallel", "[1, 4]"},
                                                            {"rehearsal.horizon", "30 days"},
                                                            {"cost.pue", "1.4"}});
    EXPECT_EQ(plan.seed, 5u);
    EXPECT_THAT(plan.training->layout.recompute.values, ElementsAre(model::Recompute::full));
    EXPECT_THAT(plan.training->layout.tensor_parallel.values, ElementsAre(1, 4));
    EXPECT_DOUBLE_EQ(plan.rehearsal.horizon->value(), 30 * 86400.0);
    EXPECT_DOUBLE_EQ(plan.cost.pue, 1.4);
}

TEST(Override, NamesTheOptionInItsFindings) {
    EXPECT_EQ(findings_of({{"train.layout.tensor_paralel", "4"}}),
              "command line: error: train.layout.tensor_paralel: --set train.layout.tensor_paralel=4: unknown key "
              "(expected nearest known: tensor_parallel)");
    EXPECT_THAT(findings_of({{"train.tokens", "many"}}),
                HasSubstr("train.tokens: --set train.tokens=many: \"many\" is no valid value"));
    EXPECT_THAT(findings_of({{"", "4"}}), HasSubstr("is no key"));
    EXPECT_THAT(findings_of({{"plan.seed.x", "4"}}), HasSubstr("leads through a value that is no table"));
    EXPECT_THAT(findings_of({{"train.published.tensor_parallel", "3"}}),
                HasSubstr("--set train.published.tensor_parallel=3: 32 attention heads are not divisible"));
}

TEST(ReadFile, SaysWhatIsWrong) {
    EXPECT_EQ(read_file(good + "no-such-file").problem, "does not exist");
    EXPECT_TRUE(read_file(good).folder);
    EXPECT_THROW((void)read_plan(good, {}), base::InputError);
}

TEST(ReadModel, RefusesANumberThatNoDoubleHolds) {
    // Found by mutation: the JSON reader throws another exception for it than for broken syntax.
    const FileProvider provider = [](const std::string&) {
        return FileText{R"({"model_type": "gpt2", "vocab_size": 1e999})", {}, false};
    };
    EXPECT_THROW((void)read_model("config.json", provider), base::InputError);
}

TEST(ReadPlan, KeepsTheNumberOfFindingsSmall) {
    std::string text;
    for (int i = 0; i < 20000; ++i) text += "key" + std::to_string(i) + " = 1\n";
    try {
        (void)read_plan("p", {}, [&](const std::string&) { return FileText{text, {}, false}; });
        FAIL();
    } catch (const base::InputError& error) {
        EXPECT_LE(error.findings().size(), 210u);
    }
}

}  // namespace
}  // namespace windtunnel::input
