#include "windtunnel/store/journal.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>

#include "temporary_folder.hpp"
#include "windtunnel/base/errors.hpp"
#include "windtunnel/store/crc32.hpp"

namespace windtunnel::store {
namespace {

using tests::TemporaryFolder;

JournalHeader header() {
    return {"study = toy\nitems = 10\nseed_use = all\n", 7, {}, {"windtunnel", "search"}, "/tmp"};
}

std::string payload(std::uint64_t block) {
    return "payload of block " + std::to_string(block) + std::string(block * 3, 'x');
}

std::string bytes_of(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

void write_bytes(const std::string& path, const std::string& bytes) {
    std::ofstream file{path, std::ios::binary | std::ios::trunc};
    file << bytes;
}

/// Header and `count` blocks; gives the size after the header and after each block.
std::vector<std::uint64_t> make_journal(const std::string& path, std::uint64_t count) {
    Journal journal = Journal::create(path, header());
    std::vector<std::uint64_t> sizes{std::filesystem::file_size(path)};
    for (std::uint64_t block = 0; block < count; ++block) {
        journal.append({0, block}, payload(block));
        sizes.push_back(std::filesystem::file_size(path));
    }
    return sizes;
}

TEST(Crc32, OfTheCheckStringIsTheStandardsValue) {
    EXPECT_EQ(crc32("123456789"), 0xCBF43926U);
    EXPECT_EQ(crc32(""), 0U);
}

TEST(Crc32, ContinuesOverPieces) {
    const std::string text = "the quick brown fox jumps over the lazy dog";
    for (std::size_t cut = 0; cut <= text.size(); ++cut)
        EXPECT_EQ(crc32(text.substr(cut), crc32(text.substr(0, cut))), crc32(text));
}

TEST(Journal, GivesBackWhatWasAppended) {
    const TemporaryFolder folder;
    make_journal(folder / "a.journal", 5);
    const Journal journal = Journal::resume(folder / "a.journal", header());
    EXPECT_EQ(journal.num_blocks(), 5U);
    EXPECT_EQ(journal.damaged_bytes(), 0U);
    EXPECT_EQ(journal.header().command, header().command);
    EXPECT_EQ(journal.header().working_folder, "/tmp");
    for (std::uint64_t block = 0; block < 5; ++block) EXPECT_EQ(journal.read({0, block}), payload(block));
    EXPECT_FALSE(journal.contains({0, 5}));
    EXPECT_FALSE(journal.contains({1, 0}));
}

TEST(Journal, KeepsTheFirstOfTwoRecordsOfABlock) {
    const TemporaryFolder folder;
    Journal journal = Journal::create(folder / "a.journal", header());
    journal.append({2, 9}, "first");
    const auto size = std::filesystem::file_size(folder / "a.journal");
    journal.append({2, 9}, "second");
    EXPECT_EQ(journal.read({2, 9}), "first");
    EXPECT_EQ(std::filesystem::file_size(folder / "a.journal"), size);
}

TEST(Journal, TakesARecordTwiceInTheFileOnce) {
    const TemporaryFolder folder;
    const auto sizes = make_journal(folder / "a.journal", 1);
    const std::string bytes = bytes_of(folder / "a.journal");
    write_bytes(folder / "a.journal", bytes + bytes.substr(sizes[0]));
    const Journal journal = Journal::open(folder / "a.journal");
    EXPECT_EQ(journal.num_blocks(), 1U);
    EXPECT_EQ(journal.damaged_bytes(), 0U);
}

TEST(Journal, TornAtAnyByteFallsBackToTheLastWholeRecordAndGoesOn) {
    const TemporaryFolder folder;
    const auto sizes = make_journal(folder / "whole.journal", 4);
    const std::string bytes = bytes_of(folder / "whole.journal");
    for (std::size_t size = sizes.front(); size <= bytes.size(); ++size) {
        write_bytes(folder / "torn.journal", bytes.substr(0, size));
        std::uint64_t whole = 0;
        while (whole + 1 < sizes.size() && sizes[whole + 1] <= size) ++whole;
        {
            Journal journal = Journal::resume(folder / "torn.journal", header());
            ASSERT_EQ(journal.num_blocks(), whole) << size;
            ASSERT_EQ(journal.damaged_bytes(), size - sizes[whole]);
            journal.append({0, 4}, payload(4));
        }
        const Journal again = Journal::open(folder / "torn.journal");
        ASSERT_EQ(again.num_blocks(), whole + 1);
        ASSERT_EQ(again.damaged_bytes(), 0U);
        ASSERT_EQ(again.read({0, 4}), payload(4));
    }
}

TEST(Journal, CutInsideItsHeaderIsAnErrorThatNamesIt) {
    const TemporaryFolder folder;
    const auto sizes = make_journal(folder / "whole.journal", 1);
    const std::string bytes = bytes_of(folder / "whole.journal");
    for (std::size_t size = 0; size < sizes.front(); ++size) {
        write_bytes(folder / "cut.journal", bytes.substr(0, size));
        try {
            (void)Journal::resume(folder / "cut.journal", header());
            FAIL() << size;
        } catch (const base::RunError& error) {
            EXPECT_NE(std::string{error.what()}.find("cut.journal"), std::string::npos);
        }
    }
}

TEST(Journal, AnyFlippedBitIsFoundAndOnlyRecordsFromThereOnAreLost) {
    const TemporaryFolder folder;
    const auto sizes = make_journal(folder / "whole.journal", 3);
    const std::string bytes = bytes_of(folder / "whole.journal");
    for (std::size_t at = 0; at < bytes.size(); ++at)
        for (const int bit : {0, 3, 7}) {
            std::string flipped = bytes;
            flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
            write_bytes(folder / "flipped.journal", flipped);
            if (at < sizes.front()) {
                EXPECT_THROW((void)Journal::open(folder / "flipped.journal"), base::RunError) << at;
                continue;
            }
            std::uint64_t whole = 0;
            while (sizes[whole + 1] <= at) ++whole;
            const Journal journal = Journal::open(folder / "flipped.journal");
            ASSERT_EQ(journal.num_blocks(), whole) << at;
            for (std::uint64_t block = 0; block < whole; ++block) ASSERT_EQ(journal.read({0, block}), payload(block));
        }
}

TEST(Journal, GarbageBehindTheLastRecordIsCut) {
    const TemporaryFolder folder;
    const auto sizes = make_journal(folder / "a.journal", 2);
    std::mt19937 random{1};
    std::string garbage;
    for (int byte = 0; byte < 100000; ++byte) garbage += static_cast<char>(random() & 0xFFU);
    write_bytes(folder / "a.journal", bytes_of(folder / "a.journal") + garbage);
    { EXPECT_EQ(Journal::resume(folder / "a.journal", header()).damaged_bytes(), garbage.size()); }
    EXPECT_EQ(std::filesystem::file_size(folder / "a.journal"), sizes.back());
}

TEST(Journal, RecordThatClaimsAHugeSizeWithARightCrcIsNotBelieved) {
    const TemporaryFolder folder;
    make_journal(folder / "a.journal", 1);
    // magic, round 0, block 1, size 2^60, CRC of these
    std::string head{"\x57\x42\x4C\x4B\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x10", 24};
    const std::uint32_t crc = crc32(head);
    head.append(reinterpret_cast<const char*>(&crc), 4);
    write_bytes(folder / "a.journal", bytes_of(folder / "a.journal") + head + std::string(100, 'x'));
    const Journal journal = Journal::open(folder / "a.journal");
    EXPECT_EQ(journal.num_blocks(), 1U);
    EXPECT_EQ(journal.damaged_bytes(), 128U);
}

std::string refusal(const std::string& path, const JournalHeader& other) {
    try {
        (void)Journal::resume(path, other);
    } catch (const base::InputError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(Journal, OfAnotherSeedPlanOrPartIsRefusedWithTheFirstDifference) {
    const TemporaryFolder folder;
    make_journal(folder / "a.journal", 1);
    JournalHeader other = header();
    other.seed = 8;
    EXPECT_NE(refusal(folder / "a.journal", other).find("seed: 7 in the journal, 8 here"), std::string::npos);
    other = header();
    other.identity = "study = toy\nitems = 11\nseed_use = all\n";
    EXPECT_NE(refusal(folder / "a.journal", other).find("line 2: `items = 10` in the journal, `items = 11` here"),
              std::string::npos);
    other = header();
    other.identity += "more = 1\n";
    EXPECT_NE(refusal(folder / "a.journal", other).find("line 4: nothing in the journal, `more = 1` here"),
              std::string::npos);
    other = header();
    other.part = {1, 4};
    EXPECT_NE(refusal(folder / "a.journal", other).find("part: 0/1 in the journal, 1/4 here"), std::string::npos);
    other = header();
    other.command = {"windtunnel", "search", "--resume"};
    EXPECT_EQ(refusal(folder / "a.journal", other), "accepted");
}

TEST(Journal, OfAnotherFormatIsRefusedWithBothFormats) {
    const TemporaryFolder folder;
    make_journal(folder / "a.journal", 1);
    std::string bytes = bytes_of(folder / "a.journal");
    bytes[8] = 9;  // the version behind the magic
    const std::uint32_t crc = crc32(bytes.substr(0, 12));
    bytes.replace(12, 4, reinterpret_cast<const char*>(&crc), 4);
    write_bytes(folder / "a.journal", bytes);
    EXPECT_NE(refusal(folder / "a.journal", header()).find("format: 9 in the journal, 2 here"), std::string::npos);
}

TEST(Journal, FolderOrMissingFolderIsARunErrorWithThePath) {
    const TemporaryFolder folder;
    EXPECT_THROW((void)Journal::open(folder.path()), base::RunError);
    EXPECT_THROW((void)Journal::create(folder / "no/such/folder.journal", header()), base::RunError);
}

TEST(Journal, FullDiskIsAnErrorAndLeavesWholeRecords) {
    const TemporaryFolder folder;
    const auto before = std::signal(SIGXFSZ, SIG_IGN);
    rlimit old{};
    ::getrlimit(RLIMIT_FSIZE, &old);
    const rlimit small{4096, old.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    std::uint64_t written = 0;
    {
        Journal journal = Journal::create(folder / "a.journal", header());
        try {
            for (; written < 100; ++written) journal.append({0, written}, std::string(1000, 'x'));
            ADD_FAILURE() << "the limit was not felt";
        } catch (const base::RunError& error) {
            EXPECT_NE(std::string{error.what()}.find("a.journal"), std::string::npos);
            EXPECT_NE(std::string{error.what()}.find("--resume"), std::string::npos);
        }
    }
    ::setrlimit(RLIMIT_FSIZE, &old);
    std::signal(SIGXFSZ, before);
    const Journal journal = Journal::open(folder / "a.journal");
    EXPECT_EQ(journal.num_blocks(), written);
    EXPECT_EQ(journal.damaged_bytes(), 0U);
}

}  // namespace
}  // namespace windtunnel::store
