#include "windtunnel/driver/run.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "temporary_folder.hpp"
#include "toy_study.hpp"
#include "windtunnel/base/errors.hpp"
#include "windtunnel/driver/openmp.hpp"
#include "windtunnel/driver/signals.hpp"
#include "windtunnel/store/lock.hpp"
#include "windtunnel/store/result_reader.hpp"

namespace windtunnel::driver {
namespace {

using tests::TemporaryFolder;
using tests::ToyOptions;
using tests::ToyStudy;

RunOptions quiet(std::string output = {}, Existing existing = Existing::refuse) {
    RunOptions options;
    options.output = std::move(output);
    options.existing = existing;
    options.threads = 1;
    options.verbosity = Verbosity::quiet;
    options.seed = 1;
    options.command = {"toy", "run one"};
    return options;
}

Outcome<ToyStudy::State> run(const ToyStudy& study, const RunOptions& options) {
    parallel::Communicator communicator;
    return run_study(study, options, communicator);
}

std::string bytes_of(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

void expect_equal_results(const std::string& a, const std::string& b) {
    const std::string command = "h5diff " + a + " " + b + " /results /results";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

TEST(RunStudy, SumsEqualAPlainLoopOverSlices) {
    ToyOptions toy;
    toy.round_items = 0;
    const ToyStudy study{toy};
    const auto outcome = run(study, quiet());
    // By hand: slices of 2 items merged into blocks of 8, blocks added in order.
    const study::Round round{0, 0, 0, 400, 8, 2, ""};
    ToyStudy::Partial all;
    const std::string context = study.round_context(study.start(), round);
    for (std::uint64_t block = 0; block < 400; block += 8) {
        auto partial = study.evaluate(round, {block, block + 2}, context);
        for (std::uint64_t slice = block + 2; slice < block + 8; slice += 2)
            study.merge(partial, study.evaluate(round, {slice, slice + 2}, context));
        study.merge(all, partial);
    }
    EXPECT_EQ(outcome.state.first.sum, all.sum);
    EXPECT_EQ(outcome.state.first.count, 400U);
    EXPECT_EQ(outcome.status, RunStatus::complete);
    EXPECT_EQ(outcome.code, 0);
}

TEST(RunStudy, DoesNotDependOnThreads) {
    const ToyStudy study{{}};
    const auto one = run(study, quiet());
    EXPECT_GT(one.state.second.count, 0U);
    for (const int threads : {2, 3, 8}) {
        RunOptions options = quiet();
        options.threads = threads;
        const auto many = run(study, options);
        EXPECT_EQ(many.state.first.sum, one.state.first.sum);
        EXPECT_EQ(many.state.second.squares, one.state.second.squares);
        EXPECT_EQ(many.state.second.count, one.state.second.count);
    }
}

TEST(RunStudy, ZeroItemsAndOneItemWork) {
    for (const std::uint64_t items : {0, 1}) {
        const TemporaryFolder folder;
        ToyOptions toy;
        toy.first_items = items;
        toy.round_items = 0;
        toy.bulk = true;
        RunOptions options = quiet(folder / "a.h5");
        options.threads = 3;
        const auto outcome = run(ToyStudy{toy}, options);
        EXPECT_EQ(outcome.state.first.count, items);
        EXPECT_EQ(store::ResultReader{folder / "a.h5"}.num_rows("toy/items"), items);
    }
}

TEST(RunStudy, WritesTheResultAndLeavesNoJournalAndNoLock) {
    const TemporaryFolder folder;
    ToyOptions toy;
    toy.bulk = true;
    const auto outcome = run(ToyStudy{toy}, quiet(folder / "a.h5"));
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator{folder.path()}) ++files;
    EXPECT_EQ(files, 1U);
    const store::ResultReader reader{folder / "a.h5"};
    EXPECT_EQ(reader.completeness(), store::Completeness::whole);
    EXPECT_EQ(reader.num_rows("toy/items"), outcome.state.first.count + outcome.state.second.count);
    const auto sums = std::get<std::vector<double>>(reader.read("toy/sums").columns[1]);
    EXPECT_EQ(sums[0], outcome.state.first.sum);
    EXPECT_EQ(reader.provenance().command, "toy 'run one'");
    EXPECT_EQ(reader.provenance().exit_state, "done");
}

TEST(RunStudy, ExistingResultOrJournalIsRefusedWithoutResumeOrOverwrite) {
    const TemporaryFolder folder;
    const ToyStudy study{{}};
    (void)run(study, quiet(folder / "a.h5"));
    EXPECT_THROW((void)run(study, quiet(folder / "a.h5")), base::InputError);
    EXPECT_EQ(run(study, quiet(folder / "a.h5", Existing::resume)).status, RunStatus::already_complete);
    EXPECT_EQ(run(study, quiet(folder / "a.h5", Existing::resume)).tables.size(), 1U);
    EXPECT_EQ(run(study, quiet(folder / "a.h5", Existing::overwrite)).status, RunStatus::complete);
    std::ofstream{folder / "b.h5.journal"} << "something";
    EXPECT_THROW((void)run(study, quiet(folder / "b.h5")), base::InputError);
    EXPECT_THROW((void)run(study, quiet(folder / "b.h5", Existing::resume)), base::RunError);
    EXPECT_EQ(run(study, quiet(folder / "b.h5", Existing::overwrite)).status, RunStatus::complete);
}

TEST(RunStudy, ResultOfAnotherPlanIsRefusedWithTheDifference) {
    const TemporaryFolder folder;
    (void)run(ToyStudy{{}}, quiet(folder / "a.h5"));
    ToyOptions other;
    other.round_items = 80;
    try {
        (void)run(ToyStudy{other}, quiet(folder / "a.h5", Existing::resume));
        FAIL();
    } catch (const base::InputError& error) {
        EXPECT_NE(std::string{error.what()}.find("`round_items = 100` in the result, `round_items = 80` here"),
                  std::string::npos)
            << error.what();
    }
}

/// The journal as it stands when the run fails at `item` of phase 0.
void leave_journal(const std::string& output, ToyOptions toy, std::uint64_t item) {
    toy.throw_at = item;
    EXPECT_THROW((void)run(ToyStudy{toy}, quiet(output)), base::RunError);
}

TEST(RunStudy, ResumedFromAnyBlockGivesTheSameResult) {
    const TemporaryFolder folder;
    ToyOptions toy;
    toy.bulk = true;
    (void)run(ToyStudy{toy}, quiet(folder / "whole.h5"));
    for (const std::uint64_t item : {0, 9, 200, 399}) {
        const std::string output = folder / ("cut" + std::to_string(item) + ".h5");
        leave_journal(output, toy, item);
        EXPECT_FALSE(std::filesystem::exists(output));
        EXPECT_EQ(store::Journal::open(output + ".journal").num_blocks(), item / 8);
        EXPECT_EQ(run(ToyStudy{toy}, quiet(output, Existing::resume)).status, RunStatus::complete);
        EXPECT_EQ(store::ResultReader{output}.provenance().blocks_resumed, static_cast<std::int64_t>(item / 8));
        expect_equal_results(folder / "whole.h5", output);
    }
}

TEST(RunStudy, ResumedWithoutAJournalStartsFromTheBeginning) {
    const TemporaryFolder folder;
    EXPECT_EQ(run(ToyStudy{{}}, quiet(folder / "a.h5", Existing::resume)).status, RunStatus::complete);
}

TEST(RunStudy, OutputThatCannotBeWrittenIsARunErrorBeforeAnyWork) {
    const TemporaryFolder folder;
    ToyOptions toy;
    toy.throw_at = 0;
    toy.throw_input_error = true;  // would come if any work were done
    EXPECT_THROW((void)run(ToyStudy{toy}, quiet(folder.path())), base::RunError);
    EXPECT_THROW((void)run(ToyStudy{toy}, quiet(folder / "no/a.h5")), base::RunError);
    EXPECT_THROW((void)run(ToyStudy{toy}, quiet("/dev/null")), base::RunError);
    EXPECT_THROW((void)run(ToyStudy{toy}, quiet("/proc/a.h5")), base::RunError);
}

TEST(RunStudy, SecondJobOnTheSameOutputIsRefused) {
    const TemporaryFolder folder;
    const store::Lock lock{folder / "a.h5.lock"};
    EXPECT_THROW((void)run(ToyStudy{{}}, quiet(folder / "a.h5")), base::RunError);
    EXPECT_FALSE(std::filesystem::exists(folder / "a.h5.journal"));
}

TEST(Parts, GatheredInAnyOrderEqualTheUndividedRun) {
    const TemporaryFolder folder;
    ToyOptions toy;
    toy.bulk = true;
    (void)run(ToyStudy{toy}, quiet(folder / "whole.h5"));
    std::vector<std::string> journals;
    for (const std::uint64_t index : {2, 0, 1}) {
        RunOptions options = quiet(folder / ("part" + std::to_string(index) + ".h5"));
        options.part = store::Part{index, 3};
        const auto outcome = run(ToyStudy{toy}, options);
        EXPECT_EQ(outcome.status, RunStatus::part_done);
        EXPECT_EQ(outcome.code, 0);
        journals.push_back(options.output + ".journal");
    }
    parallel::Communicator communicator;
    const auto outcome = gather(ToyStudy{toy}, journals, quiet(folder / "all.h5"), communicator);
    EXPECT_EQ(outcome.status, RunStatus::complete);
    expect_equal_results(folder / "whole.h5", folder / "all.h5");
    journals.pop_back();
    const auto partial = gather(ToyStudy{toy}, journals, quiet(folder / "some.h5"), communicator);
    EXPECT_EQ(partial.status, RunStatus::incomplete);
    EXPECT_EQ(partial.code, 75);
    // Blocks 1, 4, ... of 50 are missing: 17 of 8 items; 33 are there.
    EXPECT_EQ(partial.state.first.count, 33U * 8U);
    EXPECT_EQ(store::ResultReader{folder / "some.h5"}.completeness(), store::Completeness::partial);
    EXPECT_EQ(store::ResultReader{folder / "some.h5"}.num_rows("toy/items"), 33U * 8U);
}

TEST(Parts, WrongPartsAndForeignJournalsAreRefused) {
    const TemporaryFolder folder;
    RunOptions options = quiet(folder / "a.h5");
    options.part = store::Part{3, 3};
    EXPECT_THROW((void)run(ToyStudy{{}}, options), base::InputError);
    options.part = store::Part{0, 2};
    options.output.clear();
    EXPECT_THROW((void)run(ToyStudy{{}}, options), base::InputError);
    options.output = folder / "a.h5";
    (void)run(ToyStudy{{}}, options);
    ToyOptions other;
    other.first_items = 8;
    parallel::Communicator communicator;
    EXPECT_THROW((void)gather(ToyStudy{other}, {folder / "a.h5.journal"}, quiet(folder / "b.h5"), communicator),
                 base::InputError);
    EXPECT_THROW((void)gather(ToyStudy{{}}, {folder / "absent"}, quiet(folder / "b.h5"), communicator),
                 base::InputError);
    EXPECT_THROW((void)gather(ToyStudy{{}}, {}, quiet(folder / "b.h5"), communicator), base::InputError);
}

TEST(Gather, OfAnUnfinishedRunIsMarkedIncompleteAndTheRunCanGoOn) {
    const TemporaryFolder folder;
    leave_journal(folder / "a.h5", {}, 200);
    parallel::Communicator communicator;
    const std::string before = bytes_of(folder / "a.h5.journal");
    const auto partial = gather(ToyStudy{{}}, {folder / "a.h5.journal"}, quiet(folder / "a.h5"), communicator);
    EXPECT_EQ(partial.code, 75);
    EXPECT_EQ(partial.state.first.count, 200U);
    EXPECT_EQ(bytes_of(folder / "a.h5.journal"), before);
    EXPECT_EQ(run(ToyStudy{{}}, quiet(folder / "a.h5", Existing::resume)).status, RunStatus::complete);
    EXPECT_EQ(store::ResultReader{folder / "a.h5"}.completeness(), store::Completeness::whole);
}

/// A study that gets `signal` from inside item 24 of any phase.
struct Signalling : ToyStudy {
    explicit Signalling(int number) : ToyStudy{{}}, signal{number} {}
    [[nodiscard]] Partial evaluate(const study::Round& round, study::ItemRange items, std::string_view context) const {
        if (items.begin == 24) ::raise(signal);
        return ToyStudy::evaluate(round, items, context);
    }
    int signal;
};

/// Exit code of `action` in a child; -100 - signal when one killed it.
template <class Action>
int exit_code_of_child(const Action& action) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(action());
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -100 - WTERMSIG(status);
}

int exit_code_after(int signal, const std::string& output, Existing existing = Existing::refuse) {
    return exit_code_of_child([&] {
        parallel::Communicator communicator;
        return run_study(Signalling{signal}, quiet(output, existing), communicator).code;
    });
}

TEST(Signals, Usr1BeforeTheRunStopsItAndAfterItDoesNothing) {
    const TemporaryFolder folder;
    EXPECT_EQ(exit_code_of_child([&] {
                  await_stop();
                  ::raise(SIGUSR1);
                  return run(ToyStudy{{}}, quiet(folder / "early.h5")).code;
              }),
              75);
    EXPECT_EQ(store::Journal::open(folder / "early.h5.journal").num_blocks(), 0U);
    EXPECT_EQ(run(ToyStudy{{}}, quiet(folder / "early.h5", Existing::resume)).status, RunStatus::complete);
    EXPECT_EQ(exit_code_of_child([&] {
                  await_stop();
                  const int code = run(ToyStudy{{}}, quiet(folder / "late.h5")).code;
                  ::raise(SIGUSR1);
                  return code;
              }),
              0);
    expect_equal_results(folder / "early.h5", folder / "late.h5");
}

TEST(Signals, TermDuringGatherLeavesOnlyTheJournals) {
    const TemporaryFolder folder;
    std::vector<std::string> journals;
    for (const std::uint64_t part : {0U, 1U}) {
        RunOptions options = quiet(folder / ("part" + std::to_string(part) + ".h5"));
        options.part = store::Part{part, 2};
        ASSERT_EQ(run(ToyStudy{{}}, options).status, RunStatus::part_done);
        journals.push_back(options.output + ".journal");
    }
    for (const int signal : {SIGTERM, SIGUSR1}) {
        EXPECT_EQ(exit_code_of_child([&] {
                      parallel::Communicator communicator;
                      return gather(Signalling{signal}, journals, quiet(folder / "all.h5"), communicator).code;
                  }),
                  75);
        for (const char* name : {"all.h5", "all.h5.lock", "all.h5.gather", "all.h5.gather.new", "all.h5.tmp"})
            EXPECT_FALSE(std::filesystem::exists(folder / name)) << name;
    }
    parallel::Communicator communicator;
    EXPECT_EQ(gather(ToyStudy{{}}, journals, quiet(folder / "all.h5"), communicator).code, 0);
    (void)run(ToyStudy{{}}, quiet(folder / "whole.h5"));
    expect_equal_results(folder / "whole.h5", folder / "all.h5");
}

TEST(RunStudy, AnOverwriteThatWasInterruptedCanBeResumed) {
    const TemporaryFolder folder;
    ToyOptions old;
    old.first_items = 80;
    (void)run(ToyStudy{old}, quiet(folder / "a.h5"));
    EXPECT_EQ(exit_code_after(SIGTERM, folder / "a.h5", Existing::overwrite), 75);
    EXPECT_EQ(store::ResultReader{folder / "a.h5"}.completeness(), store::Completeness::whole);  // the old one
    EXPECT_THROW((void)run(ToyStudy{old}, quiet(folder / "a.h5", Existing::refuse)), base::InputError);
    EXPECT_EQ(run(ToyStudy{{}}, quiet(folder / "a.h5", Existing::resume)).status, RunStatus::complete);
    (void)run(ToyStudy{{}}, quiet(folder / "whole.h5"));
    expect_equal_results(folder / "whole.h5", folder / "a.h5");
    EXPECT_THROW((void)run(ToyStudy{old}, quiet(folder / "a.h5", Existing::resume)), base::InputError);
}

TEST(Gather, OfTheOnlyPartIsWhole) {
    const TemporaryFolder folder;
    RunOptions options = quiet(folder / "part.h5");
    options.part = store::Part{0, 1};
    ASSERT_EQ(run(ToyStudy{{}}, options).status, RunStatus::part_done);
    parallel::Communicator communicator;
    EXPECT_EQ(gather(ToyStudy{{}}, {folder / "part.h5.journal"}, quiet(folder / "all.h5"), communicator).code, 0);
    (void)run(ToyStudy{{}}, quiet(folder / "whole.h5"));
    expect_equal_results(folder / "whole.h5", folder / "all.h5");
}

TEST(Gather, ReplacesAnIncompleteResultOfTheSameStudyOnly) {
    const TemporaryFolder folder;
    std::vector<std::string> journals;
    for (const std::uint64_t part : {0U, 1U}) {
        RunOptions options = quiet(folder / ("part" + std::to_string(part) + ".h5"));
        options.part = store::Part{part, 2};
        (void)run(ToyStudy{{}}, options);
        journals.push_back(options.output + ".journal");
    }
    parallel::Communicator communicator;
    EXPECT_EQ(gather(ToyStudy{{}}, {journals[1]}, quiet(folder / "all.h5"), communicator).code, 75);
    // Order and doubles do not matter.
    EXPECT_EQ(
        gather(ToyStudy{{}}, {journals[1], journals[0], journals[1]}, quiet(folder / "all.h5"), communicator).code, 0);
    EXPECT_THROW((void)gather(ToyStudy{{}}, journals, quiet(folder / "all.h5"), communicator), base::InputError);
    ToyOptions other;
    other.first_items = 48;
    leave_journal(folder / "other.h5", other, 24);
    EXPECT_EQ(gather(ToyStudy{other}, {folder / "other.h5.journal"}, quiet(folder / "o.h5"), communicator).code, 75);
    EXPECT_THROW((void)gather(ToyStudy{{}}, journals, quiet(folder / "o.h5"), communicator), base::InputError);
    EXPECT_FALSE(std::filesystem::exists(folder / "o.h5.gather"));
}

TEST(Signals, Usr1FinishesTheBlockInHandAndTermDoesNot) {
    const TemporaryFolder folder;
    EXPECT_EQ(exit_code_after(SIGUSR1, folder / "usr1.h5"), 75);
    EXPECT_EQ(exit_code_after(SIGTERM, folder / "term.h5"), 75);
    EXPECT_EQ(exit_code_after(SIGINT, folder / "int.h5"), 75);
    EXPECT_EQ(exit_code_after(SIGCONT, folder / "cont.h5"), 0);
    // Items 24 to 31 are block 3.
    EXPECT_EQ(store::Journal::open(folder / "usr1.h5.journal").num_blocks(), 4U);
    EXPECT_EQ(store::Journal::open(folder / "term.h5.journal").num_blocks(), 3U);
    for (const char* name : {"usr1.h5.lock", "term.h5.lock", "int.h5.lock", "term.h5", "usr1.h5"})
        EXPECT_FALSE(std::filesystem::exists(folder / name)) << name;
    EXPECT_EQ(exit_code_after(SIGTERM, ""), 1);
    EXPECT_EQ(exit_code_after(SIGUSR1, ""), 1);
    (void)run(ToyStudy{{}}, quiet(folder / "whole.h5"));
    for (const char* name : {"usr1.h5", "term.h5"}) {
        EXPECT_EQ(run(ToyStudy{{}}, quiet(folder / name, Existing::resume)).status, RunStatus::complete);
        expect_equal_results(folder / "whole.h5", folder / name);
    }
}

TEST(OpenMpForBlocks, RunsEachBlockOnceAndThrowsTheErrorOfTheLowest) {
    for (const int threads : {1, 2, 5}) {
        std::vector<int> runs(37, 0);
        openmp_for_blocks(threads)(37, [&](std::uint64_t block) { ++runs[block]; });
        EXPECT_EQ(runs, std::vector<int>(37, 1));
        openmp_for_blocks(threads)(0, [](std::uint64_t) { FAIL(); });
        try {
            openmp_for_blocks(threads)(37, [](std::uint64_t block) {
                if (block % 10 == 7) throw base::RunError{std::to_string(block)};
            });
            FAIL();
        } catch (const base::RunError& error) {
            EXPECT_STREQ(error.what(), "7");
        }
    }
}

TEST(ChooseThreads, TakesTheOptionThenTheEnvironmentThenTheMask) {
    ::setenv("OMP_NUM_THREADS", "3", 1);
    EXPECT_EQ(choose_threads(5, 1), 5);
    EXPECT_EQ(choose_threads(0, 1), 3);
    ::setenv("OMP_NUM_THREADS", "none", 1);
    EXPECT_GE(choose_threads(0, 1), 1);
    ::unsetenv("OMP_NUM_THREADS");
    EXPECT_EQ(choose_threads(0, 1 << 20), 1);
}

}  // namespace
}  // namespace windtunnel::driver
