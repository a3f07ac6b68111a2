#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "windtunnel/base/errors.hpp"
#include "windtunnel/parallel/affinity.hpp"
#include "windtunnel/parallel/communicator.hpp"
#include "windtunnel/parallel/first_error.hpp"

namespace windtunnel::parallel {
namespace {

const char* nothing(const char*) {
    return nullptr;
}

const char* under_mpirun(const char* name) {
    return std::strcmp(name, "OMPI_COMM_WORLD_SIZE") == 0 ? "4" : nullptr;
}

const char* under_srun_pmix(const char* name) {
    if (std::strcmp(name, "PMIX_RANK") == 0) return "2";
    if (std::strcmp(name, "SLURM_PROCID") == 0) return "2";
    if (std::strcmp(name, "SLURM_STEP_NUM_TASKS") == 0) return "4";
    return nullptr;
}

const char* under_srun_without_pmi(const char* name) {
    if (std::strcmp(name, "SLURM_PROCID") == 0) return "0";
    if (std::strcmp(name, "SLURM_NTASKS") == 0) return "4";
    if (std::strcmp(name, "SLURM_STEP_NUM_TASKS") == 0) return "4";
    return nullptr;
}

const char* second_task_of_four(const char* name) {
    if (std::strcmp(name, "SLURM_PROCID") == 0) return "1";
    if (std::strcmp(name, "SLURM_NTASKS") == 0) return "4";
    return nullptr;
}

const char* in_batch_script(const char* name) {
    if (std::strcmp(name, "SLURM_PROCID") == 0) return "0";
    if (std::strcmp(name, "SLURM_NTASKS") == 0) return "4";
    return nullptr;
}

const char* in_step_of_one_task(const char* name) {
    if (std::strcmp(name, "SLURM_STEP_NUM_TASKS") == 0) return "1";
    return in_batch_script(name);
}

TEST(LaunchKind, IsAloneWithoutALauncher) {
    EXPECT_EQ(launch_kind(nothing), Launch::alone);
}

TEST(LaunchKind, IsMpiUnderMpirunAndSrunWithPmix) {
    EXPECT_EQ(launch_kind(under_mpirun), Launch::mpi);
    EXPECT_EQ(launch_kind(under_srun_pmix), Launch::mpi);
    EXPECT_EQ(launched_processes(under_mpirun), 4);
}

// UC-072: 4 tasks under srun with a PMI that the MPI library does not speak.
TEST(LaunchKind, FindsSingletonsOfAWrongLauncher) {
    EXPECT_EQ(launch_kind(under_srun_without_pmi), Launch::singletons);
    EXPECT_EQ(launch_kind(second_task_of_four), Launch::singletons);
    EXPECT_EQ(launched_processes(under_srun_without_pmi), 4);
}

// A batch script has SLURM_PROCID=0 and the job's SLURM_NTASKS, but it is one process.
TEST(LaunchKind, OfABatchScriptIsDoubtfulAndOfAOneTaskStepIsAlone) {
    EXPECT_EQ(launch_kind(in_batch_script), Launch::doubtful);
    EXPECT_EQ(launch_kind(in_step_of_one_task), Launch::alone);
}

TEST(Communicator, AloneHasOneRankAndNoMessages) {
    Communicator communicator;
    EXPECT_EQ(communicator.size(), 1);
    EXPECT_TRUE(communicator.is_root());
    EXPECT_FALSE(communicator.try_receive().has_value());
}

TEST(CoreList, JoinsNeighbours) {
    EXPECT_EQ(core_list({0, 1, 2, 5}), "0-2,5");
    EXPECT_EQ(core_list({7}), "7");
    EXPECT_FALSE(cores_of_process().empty());
}

TEST(FirstError, IsTheOneWithTheLowestIndex) {
    FirstError error;
    EXPECT_NO_THROW(error.rethrow());
    for (const std::uint64_t index : {5, 2, 9}) {
        try {
            throw base::RunError{"item " + std::to_string(index)};
        } catch (...) {
            error.capture(index);
        }
    }
    try {
        error.rethrow();
        FAIL();
    } catch (const base::RunError& found) {
        EXPECT_STREQ(found.what(), "item 2");
    }
}

TEST(PackedError, KeepsFindingsAndKind) {
    const std::vector<base::Finding> findings{{"a.toml", 3, 4, "x.y", "is bad", "good"}, {"", 0, 0, "", "more", ""}};
    try {
        throw_packed_error(pack_error(std::make_exception_ptr(base::InputError{findings})));
    } catch (const base::InputError& error) {
        ASSERT_EQ(error.findings().size(), 2U);
        EXPECT_EQ(error.findings()[0].text(), findings[0].text());
        EXPECT_EQ(error.findings()[1].text(), findings[1].text());
    }
    EXPECT_THROW(throw_packed_error(pack_error(std::make_exception_ptr(std::bad_alloc{}))), base::RunError);
}

TEST(OnAllRanks, AloneThrowsTheErrorItself) {
    Communicator communicator;
    EXPECT_THROW(on_all_ranks(communicator, [] { throw base::InputError{{}}; }), base::InputError);
    EXPECT_NO_THROW(on_all_ranks(communicator, [] {}));
}

}  // namespace
}  // namespace windtunnel::parallel
