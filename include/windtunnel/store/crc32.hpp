#pragma once
/// CRC-32 (IEEE 802.3, reflected, polynomial 0xEDB88320), eight bytes at a time.
#include <cstdint>
#include <string_view>

namespace windtunnel::store {

/// Of `bytes`, continuing `previous`: crc32(b, crc32(a)) = crc32(a + b). "123456789" gives 0xCBF43926.
[[nodiscard]] std::uint32_t crc32(std::string_view bytes, std::uint32_t previous = 0) noexcept;

}  // namespace windtunnel::store
