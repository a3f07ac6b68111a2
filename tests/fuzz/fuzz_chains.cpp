/// Mutated chain files: each gives chains or an InputError, never a crash, and none takes a second; small ones are
/// solved, too.
///
///   fuzz_chains ITERATIONS [SEED]
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "mutate.hpp"
#include "windtunnel/avail/chain_answer.hpp"
#include "windtunnel/input/chains.hpp"

namespace {

namespace fs = std::filesystem;
using namespace windtunnel;

constexpr double most_seconds = 1.0;
constexpr std::int64_t most_states = 500;
constexpr double longest_time = 1e-6;  // rates may have become huge

std::vector<std::string> corpus() {
    std::vector<std::string> texts;
    for (const auto& entry : fs::directory_iterator{fs::path{WINDTUNNEL_SOURCE_DIR} / "inputs/measurements/avail"}) {
        std::ifstream file{entry.path(), std::ios::binary};
        std::stringstream text;
        text << file.rdbuf();
        texts.push_back(text.str());
    }
    std::sort(texts.begin(), texts.end());
    return texts;
}

/// Was the text read as chains?
bool read_and_solve(const std::string& text) {
    try {
        const auto provider = [&](const std::string&) { return input::FileText{text, {}, false}; };
        for (model::Chain& chain : input::read_chains("chain.toml", provider)) {
            chain.most_states = std::min(chain.most_states, most_states);
            for (model::ChainMeasure& measure : chain.measures)
                if (measure.time) measure.time = std::min(*measure.time, longest_time);
            const avail::ChainAnswer answer = avail::answer_chain(chain);
            if (answer.findings.empty() && answer.measures.size() != chain.measures.size())
                throw std::logic_error{"a measure without an answer"};
        }
        return true;
    } catch (const base::InputError& error) {
        if (error.findings().empty()) throw std::logic_error{"an InputError without a finding"};
    }
    return false;
}

}  // namespace

int main(int argc, char** argv) {
    const long iterations = argc > 1 ? std::atol(argv[1]) : 1000;
    const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
    const std::vector<std::string> texts = corpus();
    long read = 0;
    for (long i = 0; i < iterations; ++i) {
        fuzz::Random random{seed + 0x9E3779B97F4A7C15ULL * static_cast<std::uint64_t>(i)};
        const std::string text = fuzz::mutated(texts[fuzz::below(random, texts.size())], random);
        const std::clock_t start = std::clock();
        try {
            read += read_and_solve(text) ? 1 : 0;
        } catch (const std::exception& error) {
            fmt::print("iteration {}: {}\n{}\n", i, error.what(), text);
            return 1;
        }
        if (const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC; seconds > most_seconds) {
            fmt::print("iteration {}: {} s\n{}\n", i, seconds, text);
            return 1;
        }
    }
    fmt::print("{} mutated chains, {} of them read\n", iterations, read);
    return read > 0 ? 0 : 1;
}
