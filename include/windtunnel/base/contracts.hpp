#pragma once
/// Contracts: a broken one is a bug of ours, never the user's data. Checked where WINDTUNNEL_CONTRACTS is defined.
#include <source_location>
#include <string_view>

namespace windtunnel::base {

/// Prints kind, message and place to stderr and aborts.
[[noreturn]] void contract_broken(std::string_view kind, std::string_view message, const std::source_location& place);

/// A condition that the caller must have met.
constexpr void expects([[maybe_unused]] bool condition, [[maybe_unused]] std::string_view message = "",
                       [[maybe_unused]] const std::source_location& place = std::source_location::current()) {
#ifdef WINDTUNNEL_CONTRACTS
    if (!condition) contract_broken("expects", message, place);
#endif
}

/// A condition that this code promises.
constexpr void ensures([[maybe_unused]] bool condition, [[maybe_unused]] std::string_view message = "",
                       [[maybe_unused]] const std::source_location& place = std::source_location::current()) {
#ifdef WINDTUNNEL_CONTRACTS
    if (!condition) contract_broken("ensures", message, place);
#endif
}

}  // namespace windtunnel::base
