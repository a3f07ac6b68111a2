#include "windtunnel/base/contracts.hpp"

#include <gtest/gtest.h>

namespace windtunnel::base {
namespace {

TEST(Contracts, ATrueConditionPasses) {
    expects(true, "one is one");
    ensures(true);
}

TEST(ContractsDeathTest, ABrokenOneNamesItselfAndItsPlace) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(contract_broken("expects", "a positive count", std::source_location::current()),
                 "expects.*a positive count|a positive count");
}

#ifdef WINDTUNNEL_CONTRACTS
TEST(ContractsDeathTest, ExpectsStopsTheProgramWhereContractsAreOn) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(expects(false, "never"), "contracts_test.cpp");
}
#else
TEST(Contracts, ExpectsCostsNothingWhereContractsAreOff) {
    expects(false, "not looked at");
}
#endif

}  // namespace
}  // namespace windtunnel::base
