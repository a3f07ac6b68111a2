#include "windtunnel/search/selection.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "windtunnel/base/philox.hpp"

namespace windtunnel::search {
namespace {

std::vector<Candidate> random_candidates(std::size_t count) {
    base::Draws draws{{7, 1, 0}};
    std::vector<Candidate> candidates;
    // Coarse scores, so that many are equal.
    for (std::size_t i = 0; i < count; ++i)
        candidates.push_back({1.0 + static_cast<double>(draws.bits() % 100) / 100.0, i});
    return candidates;
}

TEST(BestList, KeepsWhatLiesWithinTheMargin) {
    BestList list{2, 0.10};
    for (const Candidate& candidate : std::vector<Candidate>{{5.0, 0}, {1.0, 1}, {2.0, 2}, {2.2, 3}, {2.21, 4}})
        list.add(candidate);
    list.tidy();
    // The second best scores 2.0; 2.0 x 1.1 = 2.2 stays, 2.21 goes.
    EXPECT_EQ(list.candidates(), (std::vector<Candidate>{{1.0, 1}, {2.0, 2}, {2.2, 3}}));
    EXPECT_FALSE(list.cut());
}

TEST(BestList, EqualScoresAreOrderedByIndexInAnyStream) {
    std::vector<Candidate> candidates = random_candidates(5'000);
    BestList forward{10, 0.0}, backward{10, 0.0};
    for (const Candidate& candidate : candidates) forward.add(candidate);
    std::reverse(candidates.begin(), candidates.end());
    for (const Candidate& candidate : candidates) backward.add(candidate);
    forward.tidy();
    backward.tidy();
    EXPECT_EQ(forward.candidates(), backward.candidates());
    EXPECT_TRUE(std::is_sorted(forward.candidates().begin(), forward.candidates().end()));
}

TEST(BestList, IsTheSameFromAnyCutsAndSaysWhenItIsCut) {
    const std::vector<Candidate> candidates = random_candidates(20'000);
    BestList whole{5, 0.5, 300};
    for (const Candidate& candidate : candidates) whole.add(candidate);
    whole.tidy();
    EXPECT_EQ(whole.candidates().size(), 300U);
    EXPECT_TRUE(whole.cut());
    for (const std::size_t pieces : {2U, 7U, 40U}) {
        BestList merged{5, 0.5, 300};
        for (std::size_t piece = 0; piece < pieces; ++piece) {
            BestList part{5, 0.5, 300};
            for (std::size_t i = piece * candidates.size() / pieces; i < (piece + 1) * candidates.size() / pieces; ++i)
                part.add(candidates[i]);
            part.tidy();
            merged.merge(part);
        }
        EXPECT_EQ(merged.candidates(), whole.candidates());
        EXPECT_TRUE(merged.cut());
    }
}

TEST(Sample, IsOneInAHundredAndTheSameFromAnyCuts) {
    Sample whole, low, high;
    for (std::uint64_t i = 0; i < 200'000; ++i) {
        whole.add(i);
        (i < 77'777 ? low : high).add(i);
    }
    high.merge(low);
    EXPECT_EQ(high.indices(), whole.indices());
    // Binomial(200000, 0.01): 2000 with standard deviation 44.5; four of them.
    EXPECT_NEAR(static_cast<double>(whole.indices().size()), 2000.0, 178.0);
}

TEST(Sample, IsBounded) {
    Sample sample;
    for (std::uint64_t i = 0; i < 3'000'000; ++i) sample.add(i);
    EXPECT_EQ(sample.indices().size(), Sample::most);
}

TEST(Front, HoldsPointsThatNothingBeats) {
    Front front;
    front.add({{3.0, 1.0}, 0});
    front.add({{1.0, 3.0}, 1});
    front.add({{2.0, 2.0}, 2});
    front.add({{3.0, 3.0}, 3});  // beaten by 2
    front.add({{1.0, 3.0}, 4});  // equal to 1, later
    front.add({{1.0, 2.5}, 5});  // beats 1
    EXPECT_EQ(front.points(), (std::vector<FrontPoint>{{{3.0, 1.0}, 0}, {{2.0, 2.0}, 2}, {{1.0, 2.5}, 5}}));
}

TEST(Front, IsTheSameFromAnyOrderAndBytes) {
    base::Draws draws{{3, 1, 0}};
    std::vector<FrontPoint> points;
    for (std::uint64_t i = 0; i < 2'000; ++i)
        points.push_back({{static_cast<double>(draws.bits() % 50), static_cast<double>(draws.bits() % 50),
                           static_cast<double>(draws.bits() % 5)},
                          i});
    Front forward, backward;
    for (const FrontPoint& point : points) forward.add(point);
    for (auto point = points.rbegin(); point != points.rend(); ++point) backward.add(*point);
    EXPECT_EQ(forward.points(), backward.points());
    base::Packer packer;
    forward.pack(packer);
    const std::string bytes = std::move(packer).take();
    Front again;
    base::Unpacker unpacker{bytes};
    again.unpack(unpacker);
    EXPECT_EQ(again.points(), forward.points());
    base::Unpacker torn{std::string_view{bytes}.substr(0, bytes.size() - 1)};
    EXPECT_THROW(again.unpack(torn), base::PackError);
}

}  // namespace
}  // namespace windtunnel::search
