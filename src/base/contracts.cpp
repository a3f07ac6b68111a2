#include "windtunnel/base/contracts.hpp"

#include <cstdio>
#include <cstdlib>

namespace windtunnel::base {

void contract_broken(std::string_view kind, std::string_view message, const std::source_location& place) {
    std::fprintf(stderr, "%s:%u: broken contract in %s: %.*s: %.*s\n", place.file_name(),
                 static_cast<unsigned>(place.line()), place.function_name(), static_cast<int>(kind.size()), kind.data(),
                 static_cast<int>(message.size()), message.data());
    std::abort();
}

}  // namespace windtunnel::base
