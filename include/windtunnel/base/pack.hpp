#pragma once
/// Values to bytes and back: what travels between ranks and lies in journals. Little-endian hosts only (checked).
#include <bit>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace windtunnel::base {

static_assert(std::endian::native == std::endian::little, "journals are little-endian");

/// A record that does not hold what it should: a damaged journal, never a bug to abort on.
class PackError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

class Packer {
public:
    template <class Value>
    requires std::is_arithmetic_v<Value> || std::is_enum_v<Value>
    void put(Value value) {
        const auto at = bytes_.size();
        bytes_.resize(at + sizeof value);
        std::memcpy(bytes_.data() + at, &value, sizeof value);
    }
    void put(std::string_view text) {
        put(static_cast<std::uint64_t>(text.size()));
        bytes_.append(text);
    }
    template <class Value>
    requires std::is_arithmetic_v<Value>
    void put(const std::vector<Value>& values) {
        put(static_cast<std::uint64_t>(values.size()));
        if (!values.empty()) bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value));
    }
    [[nodiscard]] std::string take() && { return std::move(bytes_); }

private:
    std::string bytes_;
};

class Unpacker {
public:
    explicit Unpacker(std::string_view bytes) noexcept : rest_{bytes} {}

    template <class Value>
    requires std::is_arithmetic_v<Value> || std::is_enum_v<Value>
    [[nodiscard]] Value get() {
        need(sizeof(Value));
        Value value;
        std::memcpy(&value, rest_.data(), sizeof value);
        rest_.remove_prefix(sizeof value);
        return value;
    }
    [[nodiscard]] std::string get_text() {
        const auto size = get<std::uint64_t>();
        need(size);
        std::string text{rest_.substr(0, size)};
        rest_.remove_prefix(size);
        return text;
    }
    template <class Value>
    requires std::is_arithmetic_v<Value>
    [[nodiscard]] std::vector<Value> get_vector() {
        const auto size = get<std::uint64_t>();
        if (size > rest_.size() / sizeof(Value)) throw PackError{"packed record is shorter than it says"};
        std::vector<Value> values(size);
        if (size > 0) std::memcpy(values.data(), rest_.data(), size * sizeof(Value));
        rest_.remove_prefix(size * sizeof(Value));
        return values;
    }
    [[nodiscard]] bool empty() const noexcept { return rest_.empty(); }

private:
    void need(std::uint64_t size) const {
        if (size > rest_.size()) throw PackError{"packed record is shorter than it says"};
    }
    std::string_view rest_;
};

}  // namespace windtunnel::base
