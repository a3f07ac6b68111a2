#include "windtunnel/store/lock.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "temporary_folder.hpp"
#include "windtunnel/base/errors.hpp"
#include "windtunnel/store/provenance.hpp"

namespace windtunnel::store {
namespace {

using tests::TemporaryFolder;

std::string refusal(const std::string& path) {
    try {
        const Lock lock{path};
    } catch (const base::RunError& error) {
        return error.what();
    }
    return {};
}

TEST(Lock, GoesWithItsOwner) {
    const TemporaryFolder folder;
    {
        const Lock lock{folder / "a.lock"};
        EXPECT_TRUE(std::filesystem::exists(folder / "a.lock"));
    }
    EXPECT_FALSE(std::filesystem::exists(folder / "a.lock"));
}

TEST(Lock, IsNotGivenTwiceAndNamesItsOwner) {
    const TemporaryFolder folder;
    const Lock lock{folder / "a.lock"};
    const std::string text = refusal(folder / "a.lock");
    EXPECT_NE(text.find("process " + std::to_string(::getpid())), std::string::npos) << text;
    EXPECT_NE(text.find(host_name()), std::string::npos) << text;
}

TEST(Lock, OfADeadProcessIsTakenOverAndNamed) {
    const TemporaryFolder folder;
    const std::string path = folder / "a.lock";
    const pid_t child = ::fork();
    if (child == 0) {
        new Lock{path};  // dies with it
        ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(std::filesystem::exists(path));
    const Lock lock{path};
    EXPECT_NE(lock.stale_owner().find("process " + std::to_string(child)), std::string::npos) << lock.stale_owner();
}

TEST(Lock, OfAZombieIsStale) {
    const TemporaryFolder folder;
    const std::string path = folder / "a.lock";
    const pid_t child = ::fork();
    if (child == 0) {
        new Lock{path};
        ::_exit(0);
    }
    // Its end is seen, but it is not reaped: a zombie.
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
    EXPECT_NO_THROW(Lock{path});
    int status = 0;
    ::waitpid(child, &status, 0);
}

TEST(Lock, OfAUsedAgainProcessNumberIsStale) {
    const TemporaryFolder folder;
    std::ofstream{folder / "a.lock"} << "host=" << host_name() << "\npid=1\nstart=2020\nticks=123456789012345\n";
    const Lock lock{folder / "a.lock"};
    EXPECT_FALSE(lock.stale_owner().empty());
}

TEST(Lock, OfAnotherHostIsKept) {
    const TemporaryFolder folder;
    std::ofstream{folder / "a.lock"} << "host=elsewhere\npid=999999\nstart=2026-01-01T00:00:00Z\n";
    const std::string text = refusal(folder / "a.lock");
    EXPECT_NE(text.find("elsewhere"), std::string::npos);
    EXPECT_NE(text.find("delete"), std::string::npos);
}

TEST(Lock, OfAnEarlierStartOfTheSameBatchJobIsStale) {
    const TemporaryFolder folder;
    std::ofstream{folder / "a.lock"} << "host=elsewhere\npid=999999\nstart=2026\nslurm_job=17\nslurm_restart=\n";
    ::setenv("SLURM_JOB_ID", "17", 1);
    ::setenv("SLURM_RESTART_COUNT", "1", 1);
    std::optional<Lock> lock;
    EXPECT_NO_THROW(lock.emplace(folder / "a.lock"));
    ::unsetenv("SLURM_JOB_ID");
    ::unsetenv("SLURM_RESTART_COUNT");
}

TEST(Lock, EmptyOneIsRefusedWithAHint) {
    const TemporaryFolder folder;
    std::ofstream{folder / "a.lock"};
    EXPECT_NE(refusal(folder / "a.lock").find("delete"), std::string::npos);
}

}  // namespace
}  // namespace windtunnel::store
