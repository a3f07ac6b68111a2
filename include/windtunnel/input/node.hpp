#pragma once
/// A TOML document as a plain tree that knows where each value stands. Keeps toml++ inside one source file.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "windtunnel/base/errors.hpp"

namespace windtunnel::input {

/// Where a value stands: a place in a file, or an option of the command line.
struct Place {
    std::string file;  ///< empty: the command line
    int line = 0;
    int column = 0;
    std::string option;  ///< "--set train.tokens=5" when the value came from there
};

struct Member;

struct Node {
    enum class Kind { table, array, text, integer, real, boolean, other };
    Kind kind = Kind::table;
    Place place;
    std::string text;  ///< text, or the spelling of a date or time (other)
    std::int64_t integer = 0;
    double real = 0.0;
    bool boolean = false;
    std::vector<Node> items;      ///< array
    std::vector<Member> members;  ///< table, in the order of the file

    [[nodiscard]] const Node* find(std::string_view key) const;
};

struct Member {
    std::string key;
    Place place;  ///< of the key
    Node node;
};

/// "a table", "the number 3", "the text \"any\"": for findings.
[[nodiscard]] std::string describe(const Node& node);

/// A finding about the value or key that stands there.
[[nodiscard]] base::Finding finding_at(const Place& place, std::string field, std::string message,
                                       std::string expected = {});

}  // namespace windtunnel::input
