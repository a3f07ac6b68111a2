#pragma once
/// The first error of many threads or ranks, so that it can be thrown where it can be handled.
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>

#include "windtunnel/parallel/communicator.hpp"

namespace windtunnel::parallel {

/// Keeps the error with the lowest index: the same one on any number of threads.
class FirstError {
public:
    /// The exception that is being handled; call it inside a catch block.
    void capture(std::uint64_t index = 0) noexcept;
    [[nodiscard]] bool any() const noexcept;
    void rethrow() const;  ///< nothing happens without an error
    [[nodiscard]] std::exception_ptr error() const noexcept;

private:
    mutable std::mutex mutex_;
    std::uint64_t index_ = std::numeric_limits<std::uint64_t>::max();
    std::exception_ptr error_;
};

/// An exception as bytes for another rank, and back: base::InputError with its findings, anything else as
/// base::RunError with its text.
[[nodiscard]] std::string pack_error(const std::exception_ptr& error);
[[noreturn]] void throw_packed_error(std::string_view bytes);

/// Does `action` on every rank; when it throws on any, all ranks throw the error of the lowest one. Collective.
void on_all_ranks(Communicator& communicator, const std::function<void()>& action);

}  // namespace windtunnel::parallel
