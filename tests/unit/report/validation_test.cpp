#include "windtunnel/report/validation.hpp"

#include <gtest/gtest.h>

namespace windtunnel::report {
namespace {

TEST(ValidationText, KnownAnswersAreJudgedWithoutLimitsOfFamilies) {
    validate::RowResult row;
    row.id = "two_states";
    row.quantity = "availability";
    row.predicted = row.measured = 0.5;
    row.tolerance = 1e-9;
    const std::vector<validate::RowResult> met{row};
    EXPECT_NE(validation_text(met, {}, {}).find("all 1 known answers are met"), std::string::npos);
    row.predicted = 0.6;
    const std::vector<validate::RowResult> missed{row};
    EXPECT_NE(validation_text(missed, {}, {}).find("1 of 1 known answers missed"), std::string::npos);
    EXPECT_NE(validation_text({}, {}, {}).find("nothing was judged"), std::string::npos);
}

}  // namespace
}  // namespace windtunnel::report
