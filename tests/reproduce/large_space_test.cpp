/// A space of more than 10^7 designs on 10,000 cards, walked to its end in bounded memory.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <numeric>

#include "search_examples.hpp"
#include "windtunnel/search/sweep.hpp"

namespace windtunnel::search {
namespace {

/// Largest resident size of this process so far, bytes (Linux counts KiB).
std::int64_t peak_memory() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return std::int64_t{usage.ru_maxrss} * 1024;
}

TEST(LargeSpace, EveryDesignHasAVerdictAndMemoryStaysSmall) {
    const auto begin = std::chrono::steady_clock::now();
    const Sweep sweep{test::pangu_10k()};
    const std::uint64_t size = sweep.space().size();
    ASSERT_GE(size, 10'000'000U);
    const std::int64_t before = peak_memory();
    SweepResult all = sweep.nothing();
    constexpr std::uint64_t block = 1U << 26U;
    for (std::uint64_t at = 0; at < size; at += block) all.merge(sweep.walk(at, std::min(at + block, size)));
    EXPECT_EQ(std::accumulate(all.designs.begin(), all.designs.end(), std::uint64_t{0}), size);
    EXPECT_GE(all.reached_memory, 1'000'000U);
    EXPECT_GE(all.fitting(), 10'000U);
    // Every design whose memory was computed fits or does not.
    EXPECT_EQ(all.reached_memory,
              all.fitting() + all.designs[static_cast<std::size_t>(model::VerdictReason::out_of_memory)]);
    EXPECT_LT(peak_memory() - before, 64 << 20) << "a list of 10^7 numbers alone would take 80 MB";
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    RecordProperty("designs", std::to_string(size));
    RecordProperty("reached_memory", std::to_string(all.reached_memory));
    std::printf("%.0f designs, %.0f reach the memory verdict, %.0f fit, %.1f s, peak %.0f MB\n",
                static_cast<double>(size), static_cast<double>(all.reached_memory), static_cast<double>(all.fitting()),
                elapsed.count(), static_cast<double>(peak_memory()) / 1e6);
}

}  // namespace
}  // namespace windtunnel::search
