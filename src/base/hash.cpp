#include "windtunnel/base/hash.hpp"

#include <fmt/format.h>

namespace windtunnel::base {

std::string hex_text(std::uint64_t value) {
    return fmt::format("{:016x}", value);
}

}  // namespace windtunnel::base
