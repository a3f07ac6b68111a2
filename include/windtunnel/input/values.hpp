#pragma once
/// The values of one file, read and checked by its table of keys.
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "windtunnel/input/keys.hpp"
#include "windtunnel/input/node.hpp"
#include "windtunnel/model/failures.hpp"

namespace windtunnel::input {

class Values;

/// One value. A value with a finding keeps the default, so that reading goes on.
struct Value {
    bool given = false;    ///< in the file or by --set, not by default
    bool present = false;  ///< given or by default
    bool bad = false;      ///< has a finding
    Place place;
    double number = 0.0;  ///< number, quantity
    std::int64_t integer = 0;
    bool flag = false;
    bool any = false;      ///< axis
    std::string text;      ///< text, word, path; a quantity that is a word
    std::string spelling;  ///< as written, for people
    std::vector<std::int64_t> integers;
    std::vector<std::string> texts;
    model::Law law;
    std::vector<Values> tables;
    std::vector<Member> members;  ///< names: as they stand
    std::string source;
    std::string basis;
};

class Values {
public:
    /// The value at a declared path below the prefix that was set; an undeclared path is a bug (contract).
    [[nodiscard]] const Value& operator[](std::string_view path) const;
    [[nodiscard]] bool given(std::string_view path) const { return (*this)[path].given; }
    [[nodiscard]] double number(std::string_view path) const { return (*this)[path].number; }
    [[nodiscard]] int integer(std::string_view path) const { return static_cast<int>((*this)[path].integer); }
    [[nodiscard]] const std::string& text(std::string_view path) const { return (*this)[path].text; }
    [[nodiscard]] bool flag(std::string_view path) const { return (*this)[path].flag; }

    /// Is any key below this section given? ("train", "train.published")
    [[nodiscard]] bool has_section(std::string_view section) const;
    /// Is any value bad, of all or below a section?
    [[nodiscard]] bool has_bad(std::string_view section = {}) const;
    /// The same values, with paths below `section`.
    [[nodiscard]] Values below(std::string_view section) const;

    std::string field;   ///< path of this table for findings, "" or "component[2]"
    Place place;         ///< of the table
    std::string source;  ///< of the table
    std::map<std::string, Value, std::less<>> values;
    std::vector<std::string> sections;  ///< tables that stand in the file
};

/// Reads every declared key of the tree and adds findings about unknown keys, kinds, dimensions, ranges, missing keys
/// and missing sources.
[[nodiscard]] Values read_values(const Node& root, const KeyFile& file, std::vector<base::Finding>& findings);

/// `field` of a key of this table for findings.
[[nodiscard]] std::string field_of(const Values& values, std::string_view path);

}  // namespace windtunnel::input
