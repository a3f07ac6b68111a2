#include "windtunnel/parallel/first_error.hpp"

#include "windtunnel/base/errors.hpp"
#include "windtunnel/base/pack.hpp"

namespace windtunnel::parallel {
namespace {

enum class Kind : std::uint8_t { input, run };
constexpr int error_tag = 90;

}  // namespace

void FirstError::capture(std::uint64_t index) noexcept {
    const std::lock_guard guard{mutex_};
    if (error_ && index >= index_) return;
    index_ = index;
    error_ = std::current_exception();
}

bool FirstError::any() const noexcept {
    const std::lock_guard guard{mutex_};
    return error_ != nullptr;
}

std::exception_ptr FirstError::error() const noexcept {
    const std::lock_guard guard{mutex_};
    return error_;
}

void FirstError::rethrow() const {
    if (const std::exception_ptr found = error()) std::rethrow_exception(found);
}

std::string pack_error(const std::exception_ptr& error) {
    base::Packer packer;
    try {
        std::rethrow_exception(error);
    } catch (const base::InputError& input) {
        packer.put(Kind::input);
        packer.put(static_cast<std::uint64_t>(input.findings().size()));
        for (const base::Finding& finding : input.findings()) {
            packer.put(std::string_view{finding.file});
            packer.put(finding.line);
            packer.put(finding.column);
            packer.put(std::string_view{finding.field});
            packer.put(std::string_view{finding.message});
            packer.put(std::string_view{finding.expected});
        }
    } catch (const std::exception& other) {
        packer.put(Kind::run);
        packer.put(std::string_view{other.what()});
    } catch (...) {
        packer.put(Kind::run);
        packer.put(std::string_view{"an unknown exception"});
    }
    return std::move(packer).take();
}

void throw_packed_error(std::string_view bytes) {
    base::Unpacker unpacker{bytes};
    if (unpacker.get<Kind>() == Kind::run) throw base::RunError{unpacker.get_text()};
    std::vector<base::Finding> findings(unpacker.get<std::uint64_t>());
    for (base::Finding& finding : findings) {
        finding.file = unpacker.get_text();
        finding.line = unpacker.get<int>();
        finding.column = unpacker.get<int>();
        finding.field = unpacker.get_text();
        finding.message = unpacker.get_text();
        finding.expected = unpacker.get_text();
    }
    throw base::InputError{std::move(findings)};
}

void on_all_ranks(Communicator& communicator, const std::function<void()>& action) {
    if (communicator.size() == 1) {
        action();
        return;
    }
    FirstError mine;
    try {
        action();
    } catch (...) {
        mine.capture();
    }
    std::string verdict = mine.any() ? pack_error(mine.error()) : std::string{};
    if (communicator.is_root()) {
        int lowest = mine.any() ? 0 : communicator.size();
        for (int answers = 1; answers < communicator.size(); ++answers) {
            Message message = communicator.receive();
            if (message.bytes.empty() || message.source >= lowest) continue;
            lowest = message.source;
            verdict = std::move(message.bytes);
        }
        for (int rank = 1; rank < communicator.size(); ++rank) communicator.send(rank, error_tag, verdict);
    } else {
        communicator.send(0, error_tag, verdict);
        verdict = communicator.receive().bytes;
    }
    mine.rethrow();  // the original, where it happened
    if (!verdict.empty()) throw_packed_error(verdict);
}

}  // namespace windtunnel::parallel
