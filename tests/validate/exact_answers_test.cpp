/// The shipped chains against their known answers, each within the tolerance of its case.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "windtunnel/input/chains.hpp"
#include "windtunnel/validate/chain_rows.hpp"

namespace windtunnel::validate {
namespace {

namespace fs = std::filesystem;
const std::string folder = WINDTUNNEL_SOURCE_DIR "/inputs/measurements/avail/";

class KnownAnswers : public testing::TestWithParam<std::string> {};

TEST_P(KnownAnswers, AreMet) {
    int lines = 0;
    for (const model::Chain& chain : input::read_chains(folder + GetParam() + ".toml"))
        for (const RowResult& line : run_chain(chain)) {
            ++lines;
            EXPECT_FALSE(line.is_outside()) << line.quantity << ": " << line.predicted.value_or(NAN) << " for "
                                            << *line.measured << " " << line.reason;
        }
    EXPECT_GT(lines, 0);
}

std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator{folder})
        if (entry.path().extension() == ".toml") all.push_back(entry.path().stem().string());
    std::sort(all.begin(), all.end());
    return all;
}

INSTANTIATE_TEST_SUITE_P(Avail, KnownAnswers, testing::ValuesIn(names()), [](const auto& test) {
    std::string name = test.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

TEST(KnownAnswer, IsMissedWhenTheModelOrTheAnswerIsAnother) {
    const std::string text = input::read_file(folder + "A01.toml").text;
    const auto rows_with = [&](const std::string& piece, const std::string& other) {
        std::string changed = text;
        changed.replace(changed.find(piece), piece.size(), other);
        const auto chains = input::read_chains("A01.toml", [&](const std::string&) {
            return input::FileText{changed, {}, false};
        });
        int outside = 0;
        for (const RowResult& line : run_chain(chains.at(0))) outside += line.is_outside() ? 1 : 0;
        return outside;
    };
    EXPECT_EQ(rows_with("repair_rate = 0.125", "repair_rate = 0.125"), 0);
    EXPECT_EQ(rows_with("repair_rate = 0.125", "repair_rate = 0.126"), 4);
    EXPECT_EQ(rows_with("repair_rate = 0.125", "repair_rate = -1"), 4);  // a negative rate: no prediction
    EXPECT_EQ(rows_with("\navailability = 0.99206", "\navailability = 0.99207"), 1);
}

}  // namespace
}  // namespace windtunnel::validate
