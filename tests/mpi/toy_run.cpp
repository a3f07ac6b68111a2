/// The toy study as a program, for tests that kill it: toy_run -o FILE [--resume] [--items N] [--block_us N] ...
/// Prints the useful CPU time share when asked. Blocks of phase 0 hold 8 items; --block_us makes each take that long.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <string>

#include "toy_study.hpp"
#include "windtunnel/base/errors.hpp"
#include "windtunnel/driver/run.hpp"
#include "windtunnel/driver/signals.hpp"
#include "windtunnel/parallel/communicator.hpp"

namespace {

using namespace windtunnel;

double thread_cpu_seconds() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The toy study whose slices use a given CPU time.
class SlowToy : public tests::ToyStudy {
public:
    SlowToy(const tests::ToyOptions& options, double slice_s) : ToyStudy{options}, slice_s_{slice_s} {}
    [[nodiscard]] Partial evaluate(const study::Round& round, study::ItemRange items, std::string_view context) const {
        const double end = thread_cpu_seconds() + slice_s_;
        Partial partial = ToyStudy::evaluate(round, items, context);
        while (thread_cpu_seconds() < end) {
        }
        return partial;
    }

private:
    double slice_s_;
};

int run(int argc, char** argv) {
    std::map<std::string, std::string> values;
    driver::RunOptions options;
    std::vector<std::string> journals;
    for (int index = 1; index < argc; ++index) {
        const std::string argument = argv[index];
        options.command.push_back(argument);
        if (argument == "--resume")
            options.existing = driver::Existing::resume;
        else if (argument == "--overwrite")
            options.existing = driver::Existing::overwrite;
        else if (argument == "--quiet")
            options.verbosity = driver::Verbosity::quiet;
        else if (argument.starts_with("-") && index + 1 < argc)
            values[argument] = argv[++index];
        else
            journals.push_back(argument);
    }
    const auto number = [&](const std::string& name, double otherwise) {
        return values.contains(name) ? std::atof(values[name].c_str()) : otherwise;
    };
    options.output = values["-o"];
    options.threads = static_cast<int>(number("--threads", 0));
    options.seed = static_cast<std::uint64_t>(number("--seed", 1));
    if (values.contains("--part"))
        options.part = store::Part{static_cast<std::uint64_t>(number("--part", 0)),
                                   static_cast<std::uint64_t>(number("--parts", 1))};
    tests::ToyOptions toy;
    toy.seed = options.seed;
    toy.first_items = static_cast<std::uint64_t>(number("--items", 4800));
    toy.round_items = static_cast<std::uint64_t>(number("--round_items", 400));
    toy.throw_at = static_cast<std::uint64_t>(number("--throw_at", 1e18));
    toy.throw_input_error = number("--input_error", 0) > 0;
    toy.half_width = 0.0025;
    toy.bulk = true;

    parallel::Communicator communicator = parallel::Communicator::start();
    // A block of 8 items has 4 slices.
    const SlowToy study{toy, number("--block_us", 1000) * 1e-6 / 4};
    try {
        const auto outcome = journals.empty() ? driver::run_study(study, options, communicator)
                                              : driver::gather(study, journals, options, communicator);
        return outcome.code;
    } catch (const base::InputError& error) {
        if (communicator.is_root()) std::fprintf(stderr, "%s\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        if (communicator.is_root()) std::fprintf(stderr, "windtunnel: error: %s\n", error.what());
        return 1;
    }
}

}  // namespace

int main(int argc, char** argv) {
    windtunnel::driver::await_stop();
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "windtunnel: error: %s\n", error.what());
        return 1;
    }
}
