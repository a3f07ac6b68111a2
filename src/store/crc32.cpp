#include "windtunnel/store/crc32.hpp"

#include <array>
#include <cstring>

namespace windtunnel::store {
namespace {

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
    Tables tables{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t value = byte;
        for (int bit = 0; bit < 8; ++bit) value = (value >> 1U) ^ ((value & 1U) != 0 ? 0xEDB88320U : 0U);
        tables[0][byte] = value;
    }
    for (std::size_t table = 1; table < 8; ++table)
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const std::uint32_t value = tables[table - 1][byte];
            tables[table][byte] = (value >> 8U) ^ tables[0][value & 0xFFU];
        }
    return tables;
}

constexpr Tables tables = make_tables();

}  // namespace

std::uint32_t crc32(std::string_view bytes, std::uint32_t previous) noexcept {
    std::uint32_t crc = ~previous;
    while (bytes.size() >= 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data(), 8);
        word ^= crc;
        crc = 0;
        for (std::size_t byte = 0; byte < 8; ++byte) crc ^= tables[7 - byte][(word >> (8 * byte)) & 0xFFU];
        bytes.remove_prefix(8);
    }
    for (const char byte : bytes) crc = (crc >> 8U) ^ tables[0][(crc ^ static_cast<unsigned char>(byte)) & 0xFFU];
    return ~crc;
}

}  // namespace windtunnel::store
