/// Tests that run on several ranks at once; each rank runs every test. Own main: GoogleTest's output comes from rank 0,
/// failures of other ranks go to stderr, and all ranks exit alike.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <thread>

#include "temporary_folder.hpp"
#include "toy_study.hpp"
#include "windtunnel/base/errors.hpp"
#include "windtunnel/driver/run.hpp"
#include "windtunnel/parallel/communicator.hpp"
#include "windtunnel/parallel/first_error.hpp"
#include "windtunnel/store/result_reader.hpp"

namespace windtunnel {
namespace {

using driver::Existing;
using driver::RunStatus;
using tests::TemporaryFolder;
using tests::ToyOptions;
using tests::ToyStudy;

/// The communicator of this process, from main to the tests; GoogleTest has no other way.
std::unique_ptr<parallel::Communicator>& world() {
    static std::unique_ptr<parallel::Communicator> communicator;
    return communicator;
}

driver::RunOptions quiet(std::string output = {}, int threads = 1) {
    driver::RunOptions options;
    options.output = std::move(output);
    options.threads = threads;
    options.verbosity = driver::Verbosity::quiet;
    options.seed = 1;
    return options;
}

/// The same run on one rank, without MPI.
ToyStudy::State alone(const ToyOptions& toy) {
    parallel::Communicator one;
    return driver::run_study(ToyStudy{toy}, quiet(), one).state;
}

TEST(Messages, ArriveWholeWhateverTheirLength) {
    if (world()->size() == 1) return;
    for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{5000}, std::size_t{3000000}}) {
        if (world()->is_root()) {
            for (int answers = 1; answers < world()->size(); ++answers) {
                const parallel::Message message = world()->receive();
                EXPECT_EQ(message.bytes, std::string(length, static_cast<char>('a' + message.source)));
            }
            for (int rank = 1; rank < world()->size(); ++rank) world()->send(rank, 2, "go on");
        } else {
            world()->send(0, 1, std::string(length, static_cast<char>('a' + world()->rank())));
            EXPECT_EQ(world()->receive().bytes, "go on");
        }
    }
}

TEST(OnAllRanks, ErrorOfOneRankIsThrownOnAll) {
    const int thrower = world()->size() - 1;
    try {
        parallel::on_all_ranks(*world(), [&] {
            if (world()->rank() == thrower) throw base::InputError{{{"a.toml", 1, 2, "x", "is bad", ""}}};
        });
        FAIL();
    } catch (const base::InputError& error) {
        EXPECT_STREQ(error.what(), "a.toml:1:2: error: x: is bad");
    }
    EXPECT_NO_THROW(parallel::on_all_ranks(*world(), [] {}));
}

TEST(RunStudy, GivesTheBitsOfOneRankOnAnyRanksAndThreads) {
    const ToyStudy::State one = alone({});
    for (const int threads : {1, 2, 3}) {
        const auto outcome = driver::run_study(ToyStudy{{}}, quiet({}, threads), *world());
        EXPECT_EQ(outcome.status, RunStatus::complete);
        if (!world()->is_root()) continue;
        EXPECT_EQ(outcome.state.first.sum, one.first.sum);
        EXPECT_EQ(outcome.state.first.squares, one.first.squares);
        EXPECT_EQ(outcome.state.second.sum, one.second.sum);
        EXPECT_EQ(outcome.state.second.squares, one.second.squares);
        EXPECT_EQ(outcome.state.second.count, one.second.count);
    }
}

TEST(RunStudy, MoreRanksThanBlocksOneItemAndNoItemsDoNotHang) {
    for (const std::uint64_t items : {0, 1, 2, 9}) {
        ToyOptions toy;
        toy.first_items = items;
        toy.round_items = 0;
        const auto outcome = driver::run_study(ToyStudy{toy}, quiet(), *world());
        EXPECT_EQ(outcome.status, RunStatus::complete);
        if (world()->is_root()) {
            EXPECT_EQ(outcome.state.first.count, items);
        }
    }
}

TEST(RunStudy, ErrorInABlockIsThrownOnAllRanksAndTheNextRunWorks) {
    for (const bool input : {false, true}) {
        ToyOptions toy;
        toy.throw_at = 100;
        toy.throw_input_error = input;
        if (input) {
            EXPECT_THROW((void)driver::run_study(ToyStudy{toy}, quiet(), *world()), base::InputError);
        } else {
            EXPECT_THROW((void)driver::run_study(ToyStudy{toy}, quiet(), *world()), base::RunError);
        }
    }
    EXPECT_EQ(driver::run_study(ToyStudy{{}}, quiet(), *world()).status, RunStatus::complete);
}

TEST(RunStudy, OutputThatCannotBeWrittenIsTheErrorOfAllRanks) {
    EXPECT_THROW((void)driver::run_study(ToyStudy{{}}, quiet("/proc/a.h5"), *world()), base::RunError);
    EXPECT_THROW((void)driver::run_study(ToyStudy{{}}, quiet("/"), *world()), base::RunError);
}

TEST(RunStudy, RanksWithDifferentPlansAreFound) {
    if (world()->size() == 1) return;
    ToyOptions toy;
    toy.first_items = world()->is_root() ? 400 : 408;
    EXPECT_THROW((void)driver::run_study(ToyStudy{toy}, quiet(), *world()), base::RunError);
}

TEST(RunStudy, JournalOfAFailedRunIsContinuedByAllRanks) {
    const TemporaryFolder folder;  // each rank has its own; rank 0 alone writes
    ToyOptions toy;
    toy.bulk = true;
    ToyOptions failing = toy;
    failing.throw_at = 300;
    auto options = quiet(folder / "a.h5");
    EXPECT_THROW((void)driver::run_study(ToyStudy{failing}, options, *world()), base::RunError);
    if (world()->is_root()) {
        EXPECT_GE(store::Journal::open(folder / "a.h5.journal").num_blocks(), 10U);
    }
    options.existing = Existing::resume;
    const auto outcome = driver::run_study(ToyStudy{toy}, options, *world());
    EXPECT_EQ(outcome.status, RunStatus::complete);
    EXPECT_EQ(driver::run_study(ToyStudy{toy}, options, *world()).status, RunStatus::already_complete);
    if (world()->is_root()) {
        const ToyStudy::State one = alone(toy);
        EXPECT_EQ(outcome.state.second.sum, one.second.sum);
        parallel::Communicator self;
        (void)driver::run_study(ToyStudy{toy}, quiet(folder / "one.h5"), self);
        const std::string command = "h5diff " + (folder / "a.h5") + " " + (folder / "one.h5") + " /results /results";
        EXPECT_EQ(std::system(command.c_str()), 0);
        EXPECT_EQ(store::ResultReader{folder / "a.h5"}.provenance().ranks, world()->size());
    } else {
        EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
    }
}

TEST(RunStudy, PartsOnManyRanksGatherToTheUndividedRun) {
    const TemporaryFolder folder;
    std::vector<std::string> journals;
    for (const std::uint64_t index : {0, 1}) {
        auto options = quiet(folder / ("p" + std::to_string(index) + ".h5"));
        options.part = store::Part{index, 2};
        EXPECT_EQ(driver::run_study(ToyStudy{{}}, options, *world()).status, RunStatus::part_done);
        journals.push_back(options.output + ".journal");
    }
    const auto outcome = driver::gather(ToyStudy{{}}, journals, quiet(folder / "all.h5"), *world());
    EXPECT_EQ(outcome.status, RunStatus::complete);
    if (world()->is_root()) {
        EXPECT_EQ(outcome.state.second.sum, alone({}).second.sum);
    }
}

/// Failures of ranks above 0, in one line each.
class RankPrinter : public testing::EmptyTestEventListener {
    void OnTestPartResult(const testing::TestPartResult& result) override {
        if (result.failed())
            std::fprintf(stderr, "rank %d: %s:%d: %s\n", world()->rank(), result.file_name(), result.line_number(),
                         result.message());
    }
};

}  // namespace
}  // namespace windtunnel

int main(int argc, char** argv) {
    using windtunnel::world;
    testing::InitGoogleTest(&argc, argv);
    if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
    world() = std::make_unique<windtunnel::parallel::Communicator>(windtunnel::parallel::Communicator::start());
    if (argc > 1 && world()->size() != std::atoi(argv[1])) {
        std::fprintf(stderr, "%s ranks were asked for, there are %d\n", argv[1], world()->size());
        return 1;
    }
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    if (!world()->is_root()) {
        delete listeners.Release(listeners.default_result_printer());
        delete listeners.Release(listeners.default_xml_generator());
        listeners.Append(new windtunnel::RankPrinter);
    }
    int code = RUN_ALL_TESTS();
    try {
        windtunnel::parallel::on_all_ranks(*world(), [code] {
            if (code != 0) throw windtunnel::base::RunError{"a rank failed"};
        });
    } catch (const windtunnel::base::RunError&) {
        code = 1;
    }
    world().reset();
    return code;
}
