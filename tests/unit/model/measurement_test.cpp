#include "windtunnel/model/measurement.hpp"

#include <gtest/gtest.h>

namespace windtunnel::model {
namespace {

TEST(FitHash, GivesThePublishedVector) {
    // FNV-1a of "GPT-22b|2048|A100-80GB-SXM|8|fp16|8|1|1|1|4|4" is 71bfc409ed9f793c; null ep and cp count as 1.
    PublishedRow row;
    row.model = "GPT-22b";
    row.sequence = 2048;
    row.accelerator = "A100-80GB-SXM";
    row.cards = 8;
    row.dtype = "fp16";
    row.tp = 8;
    row.pp = 1;
    row.mbs = 4;
    row.gbs = 4;
    EXPECT_EQ(fit_hash(row), 0x71bfc409ed9f793cULL);
    row.cp = 1;
    row.ep = 1;
    EXPECT_EQ(fit_hash(row), 0x71bfc409ed9f793cULL);
    row.ep = 2;
    EXPECT_NE(fit_hash(row), 0x71bfc409ed9f793cULL);
    EXPECT_EQ(used_to_fit(row), fit_hash(row) % 10 < 4);
}

}  // namespace
}  // namespace windtunnel::model
