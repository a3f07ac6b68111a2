#include "windtunnel/base/pack.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace windtunnel::base {
namespace {

enum class Colour : std::uint8_t { red = 3 };

TEST(Pack, ValuesComeBackInOrder) {
    Packer packer;
    packer.put(std::uint64_t{7});
    packer.put(-0.1);
    packer.put(Colour::red);
    packer.put(std::string_view{"with\0zero", 9});
    packer.put(std::vector<double>{1.5, std::numeric_limits<double>::infinity()});
    packer.put(std::vector<int>{});
    const std::string bytes = std::move(packer).take();
    Unpacker unpacker{bytes};
    EXPECT_EQ(unpacker.get<std::uint64_t>(), 7U);
    EXPECT_EQ(unpacker.get<double>(), -0.1);
    EXPECT_EQ(unpacker.get<Colour>(), Colour::red);
    EXPECT_EQ(unpacker.get_text(), (std::string{"with\0zero", 9}));
    EXPECT_EQ(unpacker.get_vector<double>(), (std::vector<double>{1.5, std::numeric_limits<double>::infinity()}));
    EXPECT_TRUE(unpacker.get_vector<int>().empty());
    EXPECT_TRUE(unpacker.empty());
}

TEST(Pack, EveryTruncationIsAnErrorAndNoCrash) {
    Packer packer;
    packer.put(std::string_view{"abcdef"});
    packer.put(std::vector<double>{1.0, 2.0});
    const std::string bytes = std::move(packer).take();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        Unpacker unpacker{std::string_view{bytes}.substr(0, size)};
        EXPECT_THROW(
            {
                (void)unpacker.get_text();
                (void)unpacker.get_vector<double>();
            },
            PackError)
            << size;
    }
}

TEST(Pack, AnEnormousLengthIsAnErrorBeforeAnyAllocation) {
    Packer packer;
    packer.put(std::numeric_limits<std::uint64_t>::max());
    const std::string bytes = std::move(packer).take();
    Unpacker text{bytes}, numbers{bytes};
    EXPECT_THROW((void)text.get_text(), PackError);
    EXPECT_THROW((void)numbers.get_vector<double>(), PackError);
}

}  // namespace
}  // namespace windtunnel::base
