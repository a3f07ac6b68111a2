#include "windtunnel/driver/run.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>

#include "windtunnel/base/errors.hpp"
#include "windtunnel/driver/crew.hpp"
#include "windtunnel/driver/openmp.hpp"
#include "windtunnel/driver/output.hpp"
#include "windtunnel/driver/progress.hpp"
#include "windtunnel/driver/rounds.hpp"
#include "windtunnel/driver/signals.hpp"
#include "windtunnel/parallel/affinity.hpp"
#include "windtunnel/store/provenance.hpp"

namespace windtunnel::driver {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void refuse_option(std::string field, std::string message, std::string expected) {
    throw base::InputError{{{"", 0, 0, std::move(field), std::move(message), std::move(expected)}}};
}

void check_part(const AnyStudy& study, const RunOptions& options) {
    if (!options.part) return;
    const store::Part part = *options.part;
    if (part.count == 0 || part.index >= part.count)
        refuse_option("--part", fmt::format("{}/{} is no part", part.index, part.count), "I/N with I from 0 to N-1");
    if (options.output.empty()) refuse_option("--part", "a part needs a journal", "-o FILE.h5");
    if (!study.part_refusal.empty()) refuse_option("--part", study.part_refusal, "the whole run");
}

std::string command_line(const std::vector<std::string>& arguments) {
    std::string line;
    for (const std::string& argument : arguments) {
        if (!line.empty()) line += ' ';
        const bool plain = !argument.empty() && argument.find_first_of(" \t\n'\"\\$*?[]{}()<>|&;") == std::string::npos;
        line += plain ? argument : "'" + argument + "'";
    }
    return line;
}

/// What a run and a gather share at rank 0: the crew is sent home whatever happens.
class Root {
public:
    Root(const AnyStudy& study, const RunOptions& options, parallel::Communicator& communicator, int threads)
        : study_{study},
          options_{options},
          communicator_{communicator},
          threads_{threads},
          signals_{SignalRole::root},
          crew_{study, communicator, threads},
          start_text_{store::utc_now()},
          start_{Clock::now()} {}

    [[nodiscard]] AnyOutcome run() {
        return guarded([this] {
            check_part(study_, options_);
            std::unique_ptr<Output> output;
            if (!options_.output.empty()) output = std::make_unique<Output>(study_, options_, signals_);
            if (output) say_all(output->notes());
            if (output && output->already_complete())
                return AnyOutcome{RunStatus::already_complete, read_tables(options_.output, study_.bulk_tables)};
            BlockStore blocks{output ? output->take_journal() : std::nullopt, {}};
            RoundsDone done;
            {
                Progress progress{style(), stderr};
                done = options_.part ? run_part(study_, *options_.part, blocks, crew_, progress)
                                     : run_rounds(study_, Missing::compute, blocks, crew_, progress);
            }
            blocks.sync();
            if (done.interrupted) return AnyOutcome{RunStatus::interrupted, {}};
            if (options_.part) return AnyOutcome{RunStatus::part_done, {}};
            return finish(output.get(), blocks, done);
        });
    }

    [[nodiscard]] AnyOutcome gather(const std::vector<std::string>& paths) {
        return guarded([this, &paths] {
            if (options_.output.empty()) refuse_option("--output", "gather needs the name of the result", "-o FILE.h5");
            std::vector<store::Journal> journals;
            for (const std::string& path : paths) {
                if (store::path_kind(path) != store::PathKind::file)
                    throw base::InputError{{{path, 0, 0, "", "there is no such journal", "a FILE.h5.journal"}}};
                journals.push_back(store::Journal::open(path));
                check_journal(journals.back(), journals.front());
                if (journals.back().damaged_bytes() > 0)
                    say(fmt::format("warning: the last {} bytes of {} are torn or damaged and are left out",
                                    journals.back().damaged_bytes(), path));
            }
            if (journals.empty()) refuse_option("", "no journal was given", "windtunnel gather JOURNAL... -o FILE.h5");
            const bool parts = journals.front().header().divided;
            store::JournalHeader header = journals.front().header();
            header.part = {};
            Output output{options_, signals_, header};
            say_all(output.notes());
            BlockStore blocks{output.take_journal(), std::move(journals)};
            RoundsDone done;
            {
                Progress progress{style(), stderr};
                done = run_rounds(study_, parts ? Missing::compute_later : Missing::leave, blocks, crew_, progress);
            }
            if (done.interrupted) {
                blocks.close();
                output.remove_journal();
                return AnyOutcome{RunStatus::interrupted, {}};
            }
            return finish(&output, blocks, done);
        });
    }

private:
    template <class Action>
    [[nodiscard]] AnyOutcome guarded(const Action& action) {
        try {
            greet();
            AnyOutcome outcome = action();
            crew_.dismiss(outcome.status);
            return outcome;
        } catch (...) {
            crew_.dismiss(std::current_exception());
            throw;
        }
    }

    /// Where the ranks are, and whether they are asked for the same thing.
    void greet() {
        const std::vector<RankPlace> places = exchange_places(
            communicator_,
            {store::host_name(), parallel::cores_of_process(), threads_, store::text_hash(study_.identity)});
        say(places_line(places));
        for (const std::string& warning : crowded_places(places))
            std::fprintf(stderr, "windtunnel: warning: %s\n", warning.c_str());
        for (std::size_t rank = 1; rank < places.size(); ++rank)
            if (places[rank].identity_hash != places[0].identity_hash)
                throw base::RunError{fmt::format(
                    "rank {} on host {} reads another plan than rank 0 on host {}; let all nodes see the same files",
                    rank, places[rank].host, places[0].host)};
    }

    void check_journal(const store::Journal& journal, const store::Journal& first) const {
        store::JournalHeader ours = first.header();
        ours.identity = study_.identity;
        ours.seed = options_.seed;
        ours.program = this_program();
        ours.part.index = journal.header().part.index;
        if (const std::string difference = store::header_difference(journal.header(), ours); !difference.empty())
            throw base::InputError{{{journal.path(), 0, 0, "", "the journal belongs to another run: " + difference,
                                     "journals of one study"}}};
    }

    [[nodiscard]] AnyOutcome finish(Output* output, BlockStore& blocks, const RoundsDone& done) {
        AnyOutcome outcome{done.whole ? RunStatus::complete : RunStatus::incomplete, study_.tables()};
        if (output == nullptr) return outcome;
        write_result(options_.output, study_, outcome.tables, done, blocks, provenance(done));
        blocks.close();
        output->remove_journal();
        return outcome;
    }

    [[nodiscard]] store::Provenance provenance(const RoundsDone& done) const {
        store::Provenance provenance;
        provenance.identity = study_.identity;
        provenance.plan = options_.plan_text;
        provenance.command = command_line(options_.command);
        provenance.seed = options_.seed;
        provenance.ranks = communicator_.size();
        provenance.threads = threads_;
        provenance.host = store::host_name();
        provenance.versions = options_.versions;
        provenance.start = start_text_;
        provenance.end = store::utc_now();
        provenance.elapsed_s = std::chrono::duration<double>(Clock::now() - start_).count();
        provenance.exit_state = done.whole ? "done" : "incomplete";
        provenance.blocks = static_cast<std::int64_t>(done.resumed + done.computed);
        provenance.blocks_resumed = static_cast<std::int64_t>(done.resumed);
        provenance.files = options_.files;
        provenance.implicit_defaults = options_.implicit_defaults;
        provenance.assumptions = options_.assumptions;
        return provenance;
    }

    [[nodiscard]] ProgressStyle style() const {
        return progress_style(options_.progress == ShowProgress::yes && options_.verbosity == Verbosity::normal,
                              stderr);
    }
    void say(const std::string& text) const {
        if (options_.verbosity == Verbosity::normal) std::fprintf(stderr, "windtunnel: %s\n", text.c_str());
    }
    void say_all(const std::vector<std::string>& texts) const {
        for (const std::string& text : texts) say(text);
    }

    const AnyStudy& study_;
    const RunOptions& options_;
    parallel::Communicator& communicator_;
    int threads_;
    SignalGuard signals_;
    Crew crew_;
    std::string start_text_;
    Clock::time_point start_;
};

AnyOutcome work_for_root(const AnyStudy& study, parallel::Communicator& communicator, int threads) {
    const SignalGuard signals{SignalRole::worker};
    const auto nothing = exchange_places(
        communicator, {store::host_name(), parallel::cores_of_process(), threads, store::text_hash(study.identity)});
    return {work(study, communicator, threads), {}};
}

}  // namespace

int exit_code(RunStatus status, bool has_output) noexcept {
    switch (status) {
        case RunStatus::complete:
        case RunStatus::already_complete:
        case RunStatus::part_done:
            return 0;
        case RunStatus::interrupted:
            return has_output ? 75 : 1;
        case RunStatus::incomplete:
            return 75;
    }
    return 1;
}

AnyOutcome run_any_study(const AnyStudy& study, const RunOptions& options, parallel::Communicator& communicator) {
    const int threads = choose_threads(options.threads, communicator.ranks_on_same_cores());
    if (!communicator.is_root()) return work_for_root(study, communicator, threads);
    return Root{study, options, communicator, threads}.run();
}

AnyOutcome gather_any_study(const AnyStudy& study, const std::vector<std::string>& journals, const RunOptions& options,
                            parallel::Communicator& communicator) {
    const int threads = choose_threads(options.threads, communicator.ranks_on_same_cores());
    if (!communicator.is_root()) return work_for_root(study, communicator, threads);
    return Root{study, options, communicator, threads}.gather(journals);
}

}  // namespace windtunnel::driver
