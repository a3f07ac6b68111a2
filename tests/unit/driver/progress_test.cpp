#include "windtunnel/driver/progress.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <numeric>

#include "windtunnel/driver/crew.hpp"

namespace windtunnel::driver {
namespace {

std::string text_of(std::FILE* file) {
    std::string text;
    std::rewind(file);
    for (int byte = std::fgetc(file); byte != EOF; byte = std::fgetc(file)) text += static_cast<char>(byte);
    return text;
}

// 300 blocks in 30 s are 10 a second, so the 700 that are left need 70 s. The 1000 resumed ones took no time here.
TEST(ProgressLine, EtaCountsTheBlocksOfThisStartOnly) {
    const std::string line = progress_line({"search", 2000, 1000, 300, 30.0});
    EXPECT_EQ(line, "search: 1300 of 2000 blocks (65.0 %), 30 s, ETA 1 min 10 s");
}

TEST(ProgressLine, EtaIsUnknownAtFirstAndZeroAtTheEnd) {
    EXPECT_NE(progress_line({"search", 10, 5, 0, 0.1}).find("ETA unknown"), std::string::npos);
    EXPECT_NE(progress_line({"search", 10, 5, 5, 0.1}).find("ETA 0.0 s"), std::string::npos);
    EXPECT_NE(progress_line({"search", 0, 0, 0, 0.0}).find("100.0 %"), std::string::npos);
}

TEST(DurationText, HasTwoUnitsAtMost) {
    EXPECT_EQ(duration_text(3725), "1 h 02 min");
    EXPECT_EQ(duration_text(59.4), "59 s");
    EXPECT_EQ(duration_text(90000), "1 d 01 h");
    EXPECT_EQ(duration_text(0.25), "0.2 s");
}

// UC-082
TEST(Progress, InAFileHasLinesWithAnEtaAndNoControlCharacters) {
    std::FILE* file = std::tmpfile();
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(progress_style(true, file), ProgressStyle::lines);
    EXPECT_EQ(progress_style(false, file), ProgressStyle::none);
    {
        Progress progress{ProgressStyle::lines, file};
        progress.start_round("search", 4, 1);
        for (int block = 0; block < 3; ++block) progress.advance();
    }
    const std::string text = text_of(file);
    std::fclose(file);
    EXPECT_NE(text.find("4 of 4 blocks (100.0 %)"), std::string::npos) << text;
    EXPECT_NE(text.find("ETA"), std::string::npos);
    EXPECT_TRUE(
        std::all_of(text.begin(), text.end(), [](unsigned char c) { return c == '\n' || std::iscntrl(c) == 0; }));
}

TEST(Progress, BarWithoutColourHasNoEscapes) {
    ::setenv("NO_COLOR", "1", 1);
    std::FILE* file = std::tmpfile();
    {
        Progress progress{ProgressStyle::bar, file};
        progress.start_round("search", 4, 0);
        progress.advance();
    }
    ::unsetenv("NO_COLOR");
    const std::string text = text_of(file);
    std::fclose(file);
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_NE(text.find("[#####...............]"), std::string::npos) << text;
}

std::vector<int> cores(int count) {
    std::vector<int> list(static_cast<std::size_t>(count));
    std::iota(list.begin(), list.end(), 0);
    return list;
}

// UC-074: two ranks x 40 threads on 40 cores.
TEST(CrowdedPlaces, WarnsOfMoreThreadsThanCores) {
    const std::vector<RankPlace> crowded(2, {"n1", cores(40), 40, 0});
    ASSERT_EQ(crowded_places(crowded).size(), 1U);
    EXPECT_NE(crowded_places(crowded)[0].find("80 threads in all on 40 core(s)"), std::string::npos);
    EXPECT_NE(crowded_places(crowded)[0].find("--threads 20"), std::string::npos);
    EXPECT_EQ(places_line(crowded), "2 ranks x 40 threads; host n1: 80 threads on 40 cores (0-39)");
    EXPECT_TRUE(crowded_places(std::vector<RankPlace>(2, {"n1", cores(40), 20, 0})).empty());
    EXPECT_TRUE(crowded_places({{"n1", cores(40), 40, 0}, {"n2", cores(40), 40, 0}}).empty());
}

// mpirun -n 2 binds each rank to one core: 2 threads each on 2 cores in all, but both of a rank on the same one.
TEST(CrowdedPlaces, WarnsOfARankBoundToLessThanItsThreads) {
    EXPECT_EQ(crowded_places({{"n1", {0}, 2, 0}, {"n1", {1, 2, 3}, 2, 0}}).size(), 1U);
}

}  // namespace
}  // namespace windtunnel::driver
