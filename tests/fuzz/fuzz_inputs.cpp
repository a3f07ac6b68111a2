/// Mutated plans, models (TOML and config.json), clusters, accelerators, failures and calibrations: each gives a plan
/// or an InputError, never a crash, and none takes a second. Everything is in memory.
///
///   fuzz_inputs ITERATIONS [SEED]
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "mutate.hpp"
#include "windtunnel/input/read.hpp"

namespace {

namespace fs = std::filesystem;
using namespace windtunnel;
using Files = std::map<std::string, std::string>;

constexpr double most_seconds = 1.0;

std::string text_of(const fs::path& path) {
    std::ifstream file{path, std::ios::binary};
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

/// Every TOML and JSON file of the tests and of the shipped inputs, by its path from the top.
Files corpus() {
    Files files;
    const fs::path top{WINDTUNNEL_SOURCE_DIR};
    for (const char* folder : {"tests/input", "inputs/plans", "inputs/models", "inputs/clusters", "inputs/accelerators",
                               "inputs/failures", "inputs/calibrations", "inputs/engines"}) {
        if (!fs::exists(top / folder)) continue;
        for (const auto& entry : fs::recursive_directory_iterator{top / folder}) {
            const std::string ending = entry.path().extension().string();
            if (entry.is_regular_file() && (ending == ".toml" || ending == ".json") && entry.file_size() < 64 * 1024)
                files[fs::relative(entry.path(), top).string()] = text_of(entry.path());
        }
    }
    return files;
}

struct Outcome {
    bool plan = false;
    double seconds = 0.0;
};

/// Reads `path` among the files, with one of them changed.
Outcome read_changed(const Files& files, const std::string& path, const std::string& changed, const std::string& text,
                     const std::vector<input::Override>& overrides) {
    const input::FileProvider provider = [&](const std::string& wanted) -> input::FileText {
        if (wanted == changed) return {text, {}, false};
        const auto found = files.find(wanted);
        if (found == files.end()) return {{}, "does not exist", false};
        return {found->second, {}, false};
    };
    const std::clock_t start = std::clock();  // time of this process: other work on the machine does not count
    Outcome outcome;
    try {
        if (path.ends_with(".json")) {
            outcome.plan = input::read_model(path, provider).num_layers > 0;
        } else {
            outcome.plan = !input::read_plan(path, overrides, provider).resolved_text.empty();
        }
    } catch (const base::InputError& error) {
        if (error.findings().empty()) throw std::logic_error{"an InputError without a finding"};
    }
    outcome.seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    return outcome;
}

std::vector<input::Override> random_overrides(fuzz::Random& random) {
    constexpr std::string_view keys[] = {"train.layout.tensor_parallel",
                                         "train.tokens",
                                         "plan.seed",
                                         "recovery.restart",
                                         "cluster.nodes",
                                         "plan",
                                         "train..x",
                                         "",
                                         ".",
                                         "failures.component",
                                         "search.limits.usd"};
    if (random() % 8 != 0) return {};
    return {{std::string{keys[fuzz::below(random, std::size(keys))]},
             std::string{fuzz::spice[fuzz::below(random, std::size(fuzz::spice))]}}};
}

}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t iterations = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000;
    const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20261201;
    const Files files = corpus();
    std::vector<std::string> plans, configs;
    for (const auto& [path, text] : files) {
        const bool is_plan = path.find("/plan-") != std::string::npos || path.ends_with("/plan.toml") ||
                             path.starts_with("inputs/plans/");
        if (is_plan && path.find("/bad/") == std::string::npos) plans.push_back(path);
        if (path.ends_with("config.json")) configs.push_back(path);
    }
    if (plans.empty()) {
        fmt::print(stderr, "no plans below {}\n", WINDTUNNEL_SOURCE_DIR);
        return 1;
    }
    // The files that each plan reads, so that a mutation hits one of them.
    std::map<std::string, std::vector<std::string>> read_by;
    for (const std::string& plan : plans) {
        const input::FileProvider provider = [&](const std::string& wanted) -> input::FileText {
            const auto found = files.find(wanted);
            if (found == files.end()) return {{}, "does not exist", false};
            read_by[plan].push_back(wanted);
            return {found->second, {}, false};
        };
        try {
            (void)input::read_plan(plan, {}, provider);
        } catch (const base::InputError& error) {
            fmt::print(stderr, "unchanged plan is not clean:\n{}\n", error.what());
            return 1;
        }
    }
    std::uint64_t good = 0;
    double slowest = 0.0;
    std::uint64_t slowest_at = 0;
    for (std::uint64_t i = 0; i < iterations; ++i) {
        fuzz::Random random{seed + 0x9E3779B97F4A7C15ULL * i};
        std::string path, changed;
        if (!configs.empty() && random() % 4 == 0) {
            path = changed = configs[fuzz::below(random, configs.size())];
        } else {
            path = plans[fuzz::below(random, plans.size())];
            changed = read_by[path][fuzz::below(random, read_by[path].size())];
        }
        const std::string text = fuzz::mutated(files.at(changed), random);
        Outcome outcome;
        try {
            outcome = read_changed(files, path, changed, text, random_overrides(random));
        } catch (const std::exception& error) {
            fmt::print(stderr, "iteration {} of seed {}: {} with a changed {}: {}\n{}\n", i, seed, path, changed,
                       error.what(), text);
            return 1;
        }
        good += outcome.plan ? 1 : 0;
        if (outcome.seconds > slowest) {
            slowest = outcome.seconds;
            slowest_at = i;
        }
        if (outcome.seconds > most_seconds) {
            fmt::print(stderr, "iteration {} of seed {}: {} with a changed {} took {:.2f} s\n", i, seed, path, changed,
                       outcome.seconds);
            return 1;
        }
    }
    fmt::print(
        "{} inputs, {} of them plans or models, {} with findings; slowest {:.1f} ms (iteration {}), {} plans, {} "
        "configurations\n",
        iterations, good, iterations - good, slowest * 1e3, slowest_at, plans.size(), configs.size());
    if (iterations >= 1000 && (good == 0 || good == iterations)) {
        fmt::print(stderr, "the mutations do not reach both outcomes\n");
        return 1;
    }
    return 0;
}
