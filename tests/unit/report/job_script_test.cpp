#include "windtunnel/report/job_script.hpp"

#include <gtest/gtest.h>

namespace windtunnel::report {
namespace {

TEST(JobSize, IsAsManyNodesAsTheWishedTimeNeeds) {
    // 1,000 h of one core on nodes of 64 cores at 0.9: 1000 / (64 x 0.9) = 17.36 h on one node, so 18 nodes for an
    // hour.
    JobWish wish;
    const JobSize size = job_size(Seconds{1000.0 * 3600.0}, wish);
    EXPECT_EQ(size.nodes, 18);
    EXPECT_EQ(size.ranks_per_node * size.threads_per_rank, 64);
    EXPECT_NEAR(size.run_time.value(), 1000.0 * 3600.0 / 0.9 / (18 * 64), 1e-6);
    // 57.87 min x 1.5 = 86.8: 87 min and 10 of reserve.
    EXPECT_EQ(size.limit_minutes, 97);
}

TEST(JobSize, OfNoWorkIsOneNodeAndTenMinutes) {
    const JobSize size = job_size(Seconds{0.0}, {});
    EXPECT_EQ(size.nodes, 1);
    EXPECT_EQ(size.limit_minutes, 10);
}

TEST(JobSize, TakesTheNodesThatAreNamed) {
    JobWish wish;
    wish.nodes = 3;
    wish.cores_per_node = 4;
    const JobSize size = job_size(Seconds{3600.0}, wish);
    EXPECT_EQ(size.nodes, 3);
    EXPECT_EQ(size.ranks_per_node, 1);
    EXPECT_EQ(size.threads_per_rank, 4);
}

TEST(JobScript, QuotesWhatTheShellWouldRead) {
    EXPECT_EQ(shell_word("it's $HOME"), "'it'\\''s $HOME'");
    const std::string text = job_script("search", "a b.toml", "r.h5", "10 designs", {});
    EXPECT_NE(text.find("search 'a b.toml' -o 'r.h5' --resume"), std::string::npos);
    EXPECT_NE(text.find("#SBATCH --time=10\n"), std::string::npos);
}

}  // namespace
}  // namespace windtunnel::report
