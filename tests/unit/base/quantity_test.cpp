#include "windtunnel/base/quantity.hpp"

#include <gtest/gtest.h>

#include <type_traits>

namespace windtunnel {
namespace {

template <class A, class B>
concept CanAdd = requires(A a, B b) {
    a + b;
};
template <class A, class B>
concept CanSubtract = requires(A a, B b) {
    a - b;
};
template <class A, class B>
concept CanCompare = requires(A a, B b) {
    a < b;
};
template <class To, class From>
concept CanAssign = requires(To to, From from) {
    to = from;
};

static_assert(CanAdd<Seconds, Seconds>);
static_assert(!CanAdd<Seconds, Bytes>, "a time and an amount of data have no sum");
static_assert(!CanAdd<Seconds, double>, "a number without a unit is no time");
static_assert(!CanSubtract<Flops, FlopsPerSecond>);
static_assert(!CanCompare<Joules, Watts>);
static_assert(!CanAssign<Seconds, double>);
static_assert(!CanAssign<Seconds, PerSecond>);
static_assert(!std::is_convertible_v<Seconds, double>, "the number leaves by value() only");

static_assert(std::is_same_v<decltype(Bytes{1} / Seconds{1}), BytesPerSecond>);
static_assert(std::is_same_v<decltype(Bytes{1} / BytesPerSecond{1}), Seconds>);
static_assert(std::is_same_v<decltype(Watts{1} * Seconds{1}), Joules>);
static_assert(std::is_same_v<decltype(1.0 / Seconds{1}), PerSecond>);
static_assert(std::is_same_v<decltype(Usd{1} / Joules{1}), UsdPerJoule>);
static_assert(std::is_same_v<decltype(Seconds{1} / Seconds{1}), double>, "a ratio is a plain number");
static_assert(std::is_same_v<decltype(PerSecond{1} * Seconds{1}), double>);

TEST(Quantity, ArithmeticIsThatOfItsNumber) {
    EXPECT_EQ((Bytes{6e9} / BytesPerSecond{2e9}).value(), 3.0);
    EXPECT_EQ((Seconds{1} + Seconds{2} - Seconds{0.5}).value(), 2.5);
    EXPECT_EQ((2.0 * base::hour / 4.0).value(), 1800.0);
    EXPECT_EQ(base::day / base::hour, 24.0);
    EXPECT_LT(base::minute, base::hour);
}

TEST(Quantity, BinaryAndDecimalUnitsDiffer) {
    EXPECT_EQ(base::gib, 1073741824.0);  // 2^30
    EXPECT_EQ(base::giga, 1e9);
    EXPECT_EQ(base::year.value(), 31536000.0);  // 365 x 86,400
}

}  // namespace
}  // namespace windtunnel
