#include "windtunnel/search/design_space.hpp"

#include <gtest/gtest.h>

#include "search_examples.hpp"
#include "windtunnel/base/errors.hpp"
#include "windtunnel/search/sweep.hpp"

namespace windtunnel::search {
namespace {

using test::any;
using test::listed;

DesignSpace space_of(const model::Plan& plan) {
    return {plan.training->layout, plan.transformer, plan.cluster, plan.training->sequence_length};
}

/// 32 layers, 32 heads, a domain of 32 cards.
model::Plan plan_32() {
    model::Accelerator card = test::h100();
    card.scale_up_domain = card.cards_per_node = 32;
    model::Plan plan = test::plan_of(test::dense_model(32, 4096, 32, 32, 128, 16384, 32768), card, 32, 2048, 32);
    plan.training->layout.tensor_parallel = any;
    plan.training->layout.pipeline_parallel = any;
    return plan;
}

TEST(DesignSpace, ThirtyTwoCardsHaveTwentyOneOrderedFactorisations) {
    // 32 = 2^5 as tp x pp x dp: five twos into three boxes, C(7, 2) = 21. Batch 32 divides by every dp, 32 layers by
    // every pp.
    const Sweep sweep{plan_32()};
    EXPECT_EQ(sweep.space().size(), 6U * 32U);  // tp: divisors of 32 heads; pp: 1 to 32
    EXPECT_EQ(sweep.walk(0, sweep.space().size()).reached_memory, 21U);
}

TEST(DesignSpace, EveryNumberIsOneLayoutAndBack) {
    const model::Plan plan = test::pangu_10k();
    const DesignSpace space = space_of(plan);
    for (std::uint64_t index = 0; index < space.size(); index += 9'999'991) {
        const model::Layout layout = space.layout(index);
        EXPECT_EQ(space.index(layout), index);
    }
    EXPECT_EQ(space.index(space.layout(space.size() - 1)), space.size() - 1);
    model::Layout outside = space.layout(0);
    outside.tensor_parallel = 3;
    EXPECT_FALSE(space.index(outside));
}

TEST(DesignSpace, SizeIsTheProductOfItsAxes) {
    const DesignSpace space = space_of(test::pangu_10k());
    // Cards: 1,125 to 1,250 nodes. Batch: 12,288 to 18,432.
    EXPECT_EQ(space.values(AxisName::cards).size(), 126U);
    EXPECT_EQ(space.values(AxisName::cards).front(), 9'000);
    EXPECT_EQ(space.size(), 126ULL * 4 * 5 * 3 * 3 * 4 * 3 * 6'145 * 3 * 3 * 2);
    EXPECT_EQ(space.open_axes().size(), 11U);  // etp has one value
}

TEST(DesignSpace, AnyStandsForLegalValues) {
    model::Plan plan = test::plan_of(test::pangu_ultra_moe_718b(), test::ascend_910b(), 64, 8192, 64);
    model::LayoutSpace& layout = plan.training->layout;
    layout.tensor_parallel = layout.expert_parallel = layout.expert_tensor_parallel = layout.context_parallel = any;
    layout.pipeline_parallel = layout.virtual_pipeline = layout.optimizer_sharding = layout.micro_batch_size = any;
    const DesignSpace space = space_of(plan);
    using Values = std::vector<std::int64_t>;
    EXPECT_EQ(space.values(AxisName::tensor_parallel), (Values{1, 2, 4, 8}));  // of 128 heads, in a node of 8
    EXPECT_EQ(space.values(AxisName::expert_parallel), (Values{1, 2, 4, 8, 16, 32, 64, 128, 256}));
    EXPECT_EQ(space.values(AxisName::expert_tensor_parallel), (Values{1, 2, 4, 8}));
    EXPECT_EQ(space.values(AxisName::context_parallel), (Values{1, 2, 4, 8, 16, 32, 64}));
    EXPECT_EQ(space.values(AxisName::pipeline_parallel).size(), 61U);
    EXPECT_EQ(space.values(AxisName::optimizer_sharding), (Values{0, 1, 2, 3}));
    EXPECT_EQ(space.values(AxisName::micro_batch_size), (Values{1, 2, 4, 8, 16}));
}

TEST(DesignSpace, OneCardClusterHasOneCard) {
    model::Accelerator card = test::h100();
    card.cards_per_node = card.scale_up_domain = 1;
    model::Plan plan = test::plan_of(test::gpt(4, 512, 8), card, 1, 512, 4);
    plan.training->layout.cards = any;
    plan.training->layout.tensor_parallel = any;
    plan.training->layout.pipeline_parallel = any;
    const DesignSpace space = space_of(plan);
    EXPECT_EQ(space.size(), 4U);  // pp 1 to 4
    EXPECT_EQ(space.layout(0).cards, 1);
    EXPECT_EQ(Sweep{plan}.walk(0, 4).fitting(), 1U);
}

TEST(DesignSpace, HugeSpacesAreAnErrorWithTheirSize) {
    model::Plan plan = test::pangu_10k();
    plan.training->layout.global_batch_size = test::batches(1, 1'000'000);
    plan.training->layout.expert_parallel = any;
    plan.training->layout.context_parallel = any;
    plan.training->layout.pipeline_parallel = any;
    try {
        (void)space_of(plan);
        FAIL() << "no error";
    } catch (const base::InputError& error) {
        EXPECT_NE(std::string{error.what()}.find("global_batch_size 1000000"), std::string::npos) << error.what();
    }
}

TEST(DesignSpace, BatchMustBeGiven) {
    model::Plan plan = plan_32();
    plan.training->layout.global_batch_size.any = true;
    EXPECT_THROW((void)space_of(plan), base::InputError);
}

}  // namespace
}  // namespace windtunnel::search
