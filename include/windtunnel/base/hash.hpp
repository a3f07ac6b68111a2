#pragma once
/// FNV-1a, 64 bit: names of input files and result rows. Not for security.
#include <cstdint>
#include <string>
#include <string_view>

namespace windtunnel::base {

/// Source: Fowler, Noll, Vo; draft-eastlake-fnv (offset basis and prime of the 64-bit variant).
[[nodiscard]] constexpr std::uint64_t fnv1a_64(std::string_view text) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const char letter : text) {
        hash ^= static_cast<unsigned char>(letter);
        hash *= 0x100000001b3ULL;
    }
    return hash;
}

/// Sixteen lower-case hexadecimal digits.
[[nodiscard]] std::string hex_text(std::uint64_t value);

}  // namespace windtunnel::base
