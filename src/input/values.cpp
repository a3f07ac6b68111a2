#include "windtunnel/input/values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "read_value.hpp"
#include "windtunnel/base/contracts.hpp"
#include "windtunnel/base/nearest.hpp"
#include "windtunnel/input/toml_document.hpp"

namespace windtunnel::input {
namespace {

using base::Finding;
const std::vector<std::string>& basis_words() {
    static const std::vector<std::string> words{"read", "recalled", "derived", "measured", "published", "assumed"};
    return words;
}

std::string joined(std::string_view prefix, std::string_view key) {
    return prefix.empty() ? std::string{key} : fmt::format("{}.{}", prefix, key);
}

/// The nodes of the default texts, parsed once.
const Node& default_node(const std::string& fallback) {
    static const std::map<std::string, Node> nodes = [] {
        std::map<std::string, Node> all;
        for (const KeyFile& file : key_table())
            for (const Key& key : file.keys)
                if (key.fallback != "required" && key.fallback != "none")
                    all.emplace(key.fallback, parse_override_value(key.fallback, {}));
        return all;
    }();
    return nodes.at(fallback);
}

/// As written, for lists of defaults and assumptions.
std::string spelling_of(const Node& node) {
    switch (node.kind) {
        case Node::Kind::text:
            return node.text;
        case Node::Kind::array: {
            std::vector<std::string> items;
            for (std::size_t i = 0; i < std::min<std::size_t>(node.items.size(), 20); ++i)
                items.push_back(spelling_of(node.items[i]));
            return fmt::format("[{}{}]", fmt::join(items, ", "), node.items.size() > 20 ? ", ..." : "");
        }
        case Node::Kind::table: {
            std::vector<std::string> parts;
            for (const Member& member : node.members)
                if (member.key != "source" && member.key != "basis" && parts.size() < 20)
                    parts.push_back(member.key + " = " + spelling_of(member.node));
            return fmt::format("{{ {} }}", fmt::join(parts, ", "));
        }
        default:
            return describe(node);
    }
}

/// Source and basis of a table; tables below inherit them.
struct Origin {
    std::string source;
    std::string basis;
};

class FileReader {
public:
    FileReader(const KeyFile& file, std::vector<Finding>& findings) : file_{file}, findings_{findings} {
        for (const Key& key : file.keys) {
            keys_.emplace(key.path, &key);
            std::string path = key.path;
            for (auto dot = path.rfind('.'); dot != std::string::npos; dot = path.rfind('.')) {
                path.resize(dot);
                tables_.insert(path);
            }
        }
    }

    /// The table at `declared` ("component[]"), shown as `field` ("component[2]").
    Values table(const Node& node, const std::string& declared, const std::string& field, const Origin& above) {
        Values values;
        values.field = field;
        values.place = node.place;
        walk(node, declared, field, above, declared.size(), values);
        for (const Key& key : file_.keys) missing(key, declared, node, values);
        return values;
    }

private:
    void add(const Place& place, std::string field, std::string message, std::string expected) {
        if (findings_.size() < most_findings)
            findings_.push_back(finding_at(place, std::move(field), std::move(message), std::move(expected)));
    }

    bool has_sources(const std::string& declared) const {
        return file_.needs_sources || declared.starts_with("failures") || file_.kind == "calibration";
    }

    Origin origin_of(const Node& table, const std::string& field, const Origin& above) {
        Origin origin = above;
        if (const Node* source = table.find("source")) {
            if (source->kind == Node::Kind::text && !source->text.empty())
                origin.source = source->text;
            else {
                origin.source = "?";  // one finding is enough
                add(source->place, joined(field, "source"), describe(*source) + " is no source",
                    "where the value was read, as text");
            }
        }
        if (const Node* basis = table.find("basis")) {
            const auto& words = basis_words();
            if (basis->kind == Node::Kind::text && std::find(words.begin(), words.end(), basis->text) != words.end())
                origin.basis = basis->text;
            else
                add(basis->place, joined(field, "basis"), describe(*basis) + " is not known",
                    fmt::format("one of {}; nearest: {}", fmt::join(words, ", "),
                                base::nearest_name(basis->text, words)));
        }
        return origin;
    }

    void walk(const Node& node, const std::string& declared, const std::string& field, const Origin& above,
              std::size_t root_size, Values& values) {
        const bool sourced = has_sources(declared);
        const Origin origin = sourced ? origin_of(node, field, above) : above;
        if (declared.size() == root_size) values.source = origin.source;
        for (const Member& member : node.members) {
            if (sourced && (member.key == "source" || member.key == "basis")) continue;
            const std::string path = joined(declared, member.key);
            const std::string shown = joined(field, member.key.substr(0, 100));
            if (const auto key = keys_.find(path); key != keys_.end()) {
                read(member.node, *key->second, shown, origin,
                     values.values[path.substr(root_size == 0 ? 0 : root_size + 1)]);
            } else if (tables_.contains(path)) {
                if (member.node.kind != Node::Kind::table) {
                    add(member.node.place, shown, describe(member.node) + " is no table", "a table [" + path + "]");
                    continue;
                }
                values.sections.push_back(path.substr(root_size == 0 ? 0 : root_size + 1));
                walk(member.node, path, shown, origin, root_size, values);
            } else {
                unknown(member, declared, shown, sourced);
            }
        }
    }

    void unknown(const Member& member, const std::string& declared, const std::string& shown, bool sourced) {
        if (findings_.size() >= most_findings) return;
        std::vector<std::string> siblings;
        std::string elsewhere;
        const auto depth = declared.empty() ? 0 : declared.size() + 1;
        const auto consider = [&](const std::string& path) {
            if (path.size() > depth && (declared.empty() || path.starts_with(declared + ".")) &&
                path.find('.', depth) == std::string::npos)
                siblings.push_back(path.substr(depth));
            if (elsewhere.empty() && path.substr(path.rfind('.') + 1) == member.key) elsewhere = path;
        };
        for (const Key& key : file_.keys) consider(key.path);
        for (const std::string& table : tables_)
            if (!table.ends_with("[]")) consider(table);
        if (sourced) siblings.insert(siblings.end(), {"source", "basis"});
        const std::string nearest = elsewhere.empty() ? base::nearest_name(member.key, siblings) : elsewhere;
        add(member.place, shown, "unknown key", "nearest known: " + nearest);
    }

    void read(const Node& node, const Key& key, const std::string& shown, const Origin& above, Value& value) {
        value.given = value.present = true;
        value.place = node.place;
        set_default(key, value);
        if (key.kind == KeyKind::tables) return read_tables(node, key, shown, above, value);
        const Node* inner = &node;
        Origin origin = above;
        const bool own_names = key.kind == KeyKind::names;  // "value" may be one of them
        const bool law_table = key.kind == KeyKind::law && node.find("law") != nullptr;
        if (node.kind == Node::Kind::table && !own_names && (law_table || node.find("value") != nullptr)) {
            origin = origin_of(node, shown, above);
            if (!law_table) {
                inner = node.find("value");
                for (const Member& member : node.members)
                    if (member.key != "value" && member.key != "source" && member.key != "basis")
                        add(member.place, joined(shown, member.key.substr(0, 100)), "unknown key",
                            "value, source or basis; nearest: " +
                                base::nearest_name(member.key, std::vector<std::string>{"value", "source", "basis"}));
            }
        }
        read_value(*inner, key, shown, value, findings_);
        value.source = origin.source;
        value.basis = origin.basis;
        value.spelling = spelling_of(*inner);
        const bool label = key.kind == KeyKind::text || key.kind == KeyKind::path;
        if (file_.needs_sources && !label && origin.source.empty()) {
            value.bad = true;
            add(node.place, shown, "the value has no source",
                fmt::format("{{ value = {}, source = \"...\" }}, or a source of the file",
                            node.kind == Node::Kind::text ? describe(node) : "..."));
        }
    }

    void read_tables(const Node& node, const Key& key, const std::string& shown, const Origin& above, Value& value) {
        if (node.kind != Node::Kind::array || std::any_of(node.items.begin(), node.items.end(), [](const Node& item) {
                return item.kind != Node::Kind::table;
            })) {
            value.bad = true;
            return add(node.place, shown, describe(node) + " is no list of tables", "[[" + key.path + "]]");
        }
        constexpr std::size_t most_tables = 10'000;
        if (node.items.size() > most_tables) {
            value.bad = true;
            return add(node.place, shown, fmt::format("{} tables are too many", node.items.size()),
                       fmt::format("at most {}", most_tables));
        }
        for (std::size_t i = 0; i < node.items.size(); ++i) {
            value.tables.push_back(table(node.items[i], key.path + "[]", fmt::format("{}[{}]", shown, i), above));
            value.bad = value.bad || value.tables.back().has_bad();
        }
    }

    void set_default(const Key& key, Value& value) {
        if (key.fallback == "required" || key.fallback == "none") return;
        const Node& node = default_node(key.fallback);
        std::vector<Finding> none;
        read_value(node, key, key.path, value, none);
        base::ensures(none.empty(), "default of " + key.path);
        value.present = true;
        value.spelling = spelling_of(node);
    }

    /// A declared key of this table that is not given: its default, or a finding.
    void missing(const Key& key, const std::string& declared, const Node& node, Values& values) {
        const bool here =
            declared.empty() ? key.path.find("[]") == std::string::npos : key.path.starts_with(declared + ".");
        if (!here) return;
        const std::string path = declared.empty() ? key.path : key.path.substr(declared.size() + 1);
        if (const auto found = values.values.find(path); found != values.values.end() && found->second.given) return;
        Value& value = values.values[path];
        set_default(key, value);
        if (key.fallback != "required") return;
        // A required key of a section of a plan is required where the section stands.
        const std::string section = path.substr(0, path.find('.'));
        if (file_.kind == "plan" && section != "plan" && declared.empty() && !values.has_section(section)) return;
        value.bad = true;
        const Node* table = &node;
        for (std::size_t from = 0, dot = path.find('.'); dot != std::string::npos;
             from = dot + 1, dot = path.find('.', from))
            if (const Node* next = table->find(std::string_view{path}.substr(from, dot - from))) table = next;
        const Place place = table->place.line == 0 ? Place{node.place.file, 0, 0, {}} : table->place;
        add(place, joined(values.field, path), "is missing",
            key.example.empty() ? key.meaning : fmt::format("{}, for example \"{}\"", key.meaning, key.example));
    }

    const KeyFile& file_;
    std::vector<Finding>& findings_;
    std::map<std::string, const Key*, std::less<>> keys_;
    std::set<std::string, std::less<>> tables_;
};

}  // namespace

const Value& Values::operator[](std::string_view path) const {
    const auto found = values.find(path);
    base::expects(found != values.end(), path);
    return found->second;
}

bool Values::has_section(std::string_view section) const {
    return std::find(sections.begin(), sections.end(), section) != sections.end();
}

bool Values::has_bad(std::string_view section) const {
    return std::any_of(values.begin(), values.end(),
                       [&](const auto& entry) { return entry.second.bad && entry.first.starts_with(section); });
}

Values Values::below(std::string_view section) const {
    const std::string prefix = std::string{section} + ".";
    Values part;
    part.field = joined(field, section);
    part.place = place;
    part.source = source;
    for (auto at = values.lower_bound(prefix); at != values.end() && at->first.starts_with(prefix); ++at)
        part.values.emplace(at->first.substr(prefix.size()), at->second);
    for (const std::string& name : sections)
        if (name.starts_with(prefix)) part.sections.push_back(name.substr(prefix.size()));
    return part;
}

Values read_values(const Node& root, const KeyFile& file, std::vector<Finding>& findings) {
    return FileReader{file, findings}.table(root, {}, {}, {});
}

std::string field_of(const Values& values, std::string_view path) {
    return joined(values.field, path);
}

}  // namespace windtunnel::input
