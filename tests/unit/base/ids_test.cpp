#include "windtunnel/base/ids.hpp"

#include <gtest/gtest.h>

#include <type_traits>

namespace windtunnel::base {
namespace {

template <class A, class B>
concept CanCompare = requires(A a, B b) {
    a == b;
};

static_assert(CanCompare<StageId, StageId>);
static_assert(!CanCompare<StageId, ChunkId>, "a stage is no chunk");
static_assert(!std::is_convertible_v<TrialId, DesignId>);
static_assert(!std::is_convertible_v<int, TrialId>);

TEST(Id, OrdersByNumber) {
    EXPECT_LT(TrialId{3}, TrialId{4});
    EXPECT_EQ(StageId{7}.number, 7U);
}

TEST(Id, TrialsHave64Bits) {
    EXPECT_EQ(sizeof(TrialId), 8U);
}

}  // namespace
}  // namespace windtunnel::base
