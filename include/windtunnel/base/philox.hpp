#pragma once
/// Random bits as a pure function of (key, counter): no state to carry, no overlap, any draw at any time.
#include <array>
#include <cstdint>

namespace windtunnel::base {

/// Philox4x32 with ten rounds.
/// Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011; checked against the
/// known-answer vectors that are published with it.
[[nodiscard]] constexpr std::array<std::uint32_t, 4> philox4x32_10(std::array<std::uint32_t, 4> counter,
                                                                   std::array<std::uint32_t, 2> key) noexcept {
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t product_0 = std::uint64_t{0xD2511F53U} * counter[0];
        const std::uint64_t product_1 = std::uint64_t{0xCD9E8D57U} * counter[2];
        counter = {
            static_cast<std::uint32_t>(product_1 >> 32U) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(product_1),
            static_cast<std::uint32_t>(product_0 >> 32U) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(product_0)};
        key[0] += 0x9E3779B9U;
        key[1] += 0xBB67AE85U;
    }
    return counter;
}

/// One sequence of random bits. The seed is the key; purpose, trial and block are the counter, so streams of one seed
/// never overlap and a new purpose moves no other one. A purpose is a number that its user fixes once and for all.
struct RandomStream {
    std::uint64_t seed = 0;
    std::uint32_t purpose = 0;
    std::uint64_t trial = 0;

    /// Two words of 64 random bits.
    [[nodiscard]] constexpr std::array<std::uint64_t, 2> block(std::uint32_t number) const noexcept {
        const auto word = [](std::uint64_t value, unsigned shift) {
            return static_cast<std::uint32_t>(value >> shift);
        };
        const auto bits =
            philox4x32_10({number, purpose, word(trial, 0), word(trial, 32)}, {word(seed, 0), word(seed, 32)});
        return {bits[0] | (std::uint64_t{bits[1]} << 32U), bits[2] | (std::uint64_t{bits[3]} << 32U)};
    }
};

/// A number in the open interval (0, 1): the odd multiples of 2^-53.
[[nodiscard]] constexpr double open_uniform(std::uint64_t bits) noexcept {
    return (static_cast<double>(bits >> 12U) + 0.5) * 0x1p-52;
}

/// Reads a stream from its beginning, draw by draw; a block of Philox serves two draws. At most 2^33 draws a stream.
class Draws {
public:
    explicit constexpr Draws(const RandomStream& stream) noexcept : stream_{stream} {}

    [[nodiscard]] constexpr std::uint64_t bits() noexcept {
        if (number_ % 2 == 0) block_ = stream_.block(static_cast<std::uint32_t>(number_ / 2));
        return block_[number_++ % 2];
    }
    /// In the open interval (0, 1).
    [[nodiscard]] constexpr double uniform() noexcept { return open_uniform(bits()); }
    /// Draws taken so far.
    [[nodiscard]] constexpr std::uint64_t number() const noexcept { return number_; }

private:
    RandomStream stream_;
    std::array<std::uint64_t, 2> block_{};
    std::uint64_t number_ = 0;
};

}  // namespace windtunnel::base
