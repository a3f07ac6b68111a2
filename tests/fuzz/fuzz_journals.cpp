/// fuzz_journals [CASES] [SEED]: damaged journals. Opening one gives its good records or an error, within a second;
/// what stands before the damage is read back unchanged; a resumed one takes new blocks. WINDTUNNEL_FUZZ_CASES goes
/// first.
#include <fmt/format.h>

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "windtunnel/base/errors.hpp"
#include "windtunnel/store/crc32.hpp"
#include "windtunnel/store/journal.hpp"

namespace {

using namespace windtunnel;
using Random = std::mt19937_64;

constexpr double most_seconds = 1.0;
constexpr std::uint64_t num_blocks = 12;

store::JournalHeader header() {
    return {"study = toy\nitems = 10\n", 7, {}, {"windtunnel", "search"}, "/"};
}
std::string payload(std::uint64_t block) {
    return std::string(block * 11, static_cast<char>('a' + block));
}

std::size_t below(Random& random, std::size_t end) {
    return end == 0 ? 0 : random() % end;
}

void set_crc(std::string& bytes, std::size_t from, std::size_t to) {
    if (to + 4 > bytes.size()) return;
    const std::uint32_t crc = store::crc32(std::string_view{bytes}.substr(from, to - from));
    std::memcpy(bytes.data() + to, &crc, sizeof crc);
}

/// Damages the bytes, which are at least as many as before; gives the first place that may differ.
std::size_t damage(std::string& bytes, const std::vector<std::size_t>& records, Random& random) {
    const std::size_t place = below(random, bytes.size());
    switch (below(random, 8)) {
        case 0:
            bytes[place] = static_cast<char>(bytes[place] ^ (1 << below(random, 8)));
            return place;
        case 1:
            bytes.resize(place);
            return place;
        case 2:
            bytes.erase(place, 1 + below(random, 64));
            return place;
        case 3:
            bytes.insert(place, std::string(1 + below(random, 64), static_cast<char>(random())));
            return place;
        case 4: {  // a piece of the file stands somewhere else too
            const std::string piece = bytes.substr(below(random, bytes.size()), 1 + below(random, 256));
            bytes.insert(place, piece);
            return place;
        }
        case 5: {  // garbage behind the end
            const std::size_t end = bytes.size();
            for (std::size_t count = 1 + below(random, 4096); count > 0; --count) bytes += static_cast<char>(random());
            return end;
        }
        case 6: {  // a lie in the head of a record, with the right CRC: round, block or size
            const std::size_t record = records[below(random, records.size() - 1)];
            const std::uint64_t lie = random() >> below(random, 64);
            const std::size_t field = record + std::vector<std::size_t>{4, 8, 16}[below(random, 3)];
            std::memcpy(bytes.data() + field, &lie, field == record + 4 ? 4 : 8);
            set_crc(bytes, record, record + 24);
            return record;
        }
        default: {  // a lie in the prelude, with the right CRC
            bytes[8 + below(random, 4)] = static_cast<char>(random());
            set_crc(bytes, 0, 12);
            return 0;
        }
    }
}

struct Folder {
    Folder() {
        // Memory where there is some: the files are rewritten for each case.
        const std::filesystem::path memory{"/dev/shm"};
        const bool has_memory = ::access(memory.c_str(), W_OK) == 0;
        std::string pattern =
            ((has_memory ? memory : std::filesystem::temp_directory_path()) / "windtunnel-fuzz-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) std::abort();
        path = pattern;
    }
    ~Folder() { std::filesystem::remove_all(path); }
    std::filesystem::path path;
};

int run(std::uint64_t cases, std::uint64_t seed) {
    const Folder folder;
    const std::string path = (folder.path / "a.journal").string();
    std::vector<std::size_t> records;  // where each begins
    {
        store::Journal journal = store::Journal::create(path, header());
        for (std::uint64_t block = 0; block < num_blocks; ++block) {
            records.push_back(std::filesystem::file_size(path));
            journal.append({0, block}, payload(block));
        }
    }
    std::string whole;
    {
        std::ifstream file{path, std::ios::binary};
        whole.assign(std::istreambuf_iterator<char>{file}, {});
    }
    records.push_back(whole.size());
    std::uint64_t opened = 0;
    std::uint64_t refused = 0;
    double slowest = 0.0;
    for (std::uint64_t number = 0; number < cases; ++number) {
        Random random{seed + 0x9E3779B97F4A7C15ULL * number};
        std::string bytes = whole;
        std::size_t untouched = bytes.size();
        for (std::size_t times = 1 + below(random, 3); times > 0 && bytes.size() > records[0]; --times) {
            std::size_t first = damage(bytes, records, random);
            untouched = std::min(untouched, first);
            if (bytes.size() < whole.size()) break;  // the places of the records are no longer known
        }
        {
            std::ofstream file{path, std::ios::binary | std::ios::trunc};
            file << bytes;
        }
        const auto start = std::chrono::steady_clock::now();
        try {
            const bool resumes = number % 64 == 0;
            store::Journal journal = resumes ? store::Journal::resume(path, header()) : store::Journal::open(path);
            ++opened;
            for (std::uint64_t block = 0; block < num_blocks && records[block + 1] <= untouched; ++block)
                if (!journal.contains({0, block}) || journal.read({0, block}) != payload(block)) {
                    fmt::print(stderr, "case {} of seed {}: block {} before the damage is lost\n", number, seed, block);
                    return 1;
                }
            if (resumes) {
                journal.append({9, 9}, "new");
                if (journal.read({9, 9}) != "new") return 1;
            }
        } catch (const base::InputError&) {
            ++refused;
        } catch (const base::RunError&) {
            ++refused;
        }
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        slowest = std::max(slowest, seconds);
        if (seconds > most_seconds) {
            fmt::print(stderr, "case {} of seed {} took {:.2f} s\n", number, seed, seconds);
            return 1;
        }
    }
    fmt::print("{} journals: {} opened, {} refused; slowest {:.1f} ms\n", cases, opened, refused, slowest * 1e3);
    if (cases >= 1000 && (opened == 0 || refused == 0)) {
        fmt::print(stderr, "the damage does not reach both outcomes\n");
        return 1;
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const char* wanted = std::getenv("WINDTUNNEL_FUZZ_CASES");
    const std::uint64_t cases = std::strtoull(wanted != nullptr ? wanted : (argc > 1 ? argv[1] : "20000"), nullptr, 10);
    const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20261201;
    try {
        return run(cases, seed);
    } catch (const std::exception& error) {
        fmt::print(stderr, "unexpected: {}\n", error.what());
        return 1;
    }
}
