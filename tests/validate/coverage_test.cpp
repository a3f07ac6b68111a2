/// How often the 95 % intervals of sampled chains hold the exact answer, over many seeds.
///
/// WINDTUNNEL_COVERAGE_SEEDS: seeds of each case (200 without it; 1000 is the full measurement).
/// WINDTUNNEL_COVERAGE_FIRST: the first of them (0 without it).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "windtunnel/avail/chain_answer.hpp"
#include "windtunnel/avail/sample.hpp"
#include "windtunnel/input/chains.hpp"

namespace windtunnel::validate {
namespace {

struct Case {
    std::string file, measure;
};

std::uint64_t number_from(const char* variable, int otherwise, int least) {
    const char* text = std::getenv(variable);
    return static_cast<std::uint64_t>(std::max(text == nullptr ? otherwise : std::atoi(text), least));
}

/// Seeds whose interval holds the exact answer.
std::uint64_t covered(const Case& one, std::uint64_t seeds) {
    constexpr std::uint64_t trials = 20'000;  // cycles
    const std::string folder = WINDTUNNEL_SOURCE_DIR "/inputs/measurements/avail/";
    const model::Chain chain = input::read_chains(folder + one.file + ".toml").at(0);
    const avail::ChainAnswer exact = avail::answer_chain(chain);
    std::size_t m = 0;
    while (chain.measures.at(m).name != one.measure) ++m;
    avail::ChainSampler sampler{chain, avail::SampleMethod::plain};
    std::uint64_t inside = 0;
    const std::uint64_t first = number_from("WINDTUNNEL_COVERAGE_FIRST", 0, 0);
    for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
        avail::SampleSums sums = sampler.nothing();
        sampler.run(seed, {0, trials}, sums);
        const avail::SampledMeasure answer = sampler.answers(sums)[m];
        if (answer.low <= exact.measures[m].value && exact.measures[m].value <= answer.high) ++inside;
    }
    return inside;
}

TEST(Coverage, OfSampledIntervalsIs95Percent) {
    // Of n seeds 0.95 n hold on average, with a standard deviation of sqrt(0.0475 n). 929 to 971 of 1,000 are 21/6.89 =
    // 3.05 of these; 94.1 to 95.9 % of all five are 0.9 %/0.308 % = 2.92 of those of 5,000.
    const std::uint64_t seeds = number_from("WINDTUNNEL_COVERAGE_SEEDS", 200, 1);
    const auto n = static_cast<double>(seeds);
    const Case cases[] = {{"A01", "availability"},
                          {"A04", "effective_capacity"},
                          {"A10", "availability_6of8"},
                          {"A17", "availability"},
                          {"H01", "availability"}};
    std::uint64_t all = 0;
    for (const Case& one : cases) {
        const std::uint64_t inside = covered(one, seeds);
        all += inside;
        EXPECT_NEAR(static_cast<double>(inside), 0.95 * n, 3.05 * std::sqrt(0.0475 * n)) << one.file;
        fmt::print("{} {}: {} of {} intervals hold the exact answer\n", one.file, one.measure, inside, seeds);
    }
    const double together = static_cast<double>(all) / (5.0 * n);
    EXPECT_NEAR(together, 0.95, 2.92 * std::sqrt(0.0475 / (5.0 * n)));
    fmt::print("together: {:.2f} %\n", 100.0 * together);
}

}  // namespace
}  // namespace windtunnel::validate
