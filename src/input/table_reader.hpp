#pragma once
/// Reads the tables of the files beside published rows: defaults, calibrations, limits, names of models.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "windtunnel/base/errors.hpp"
#include "windtunnel/input/node.hpp"

namespace windtunnel::input {

/// A table of one of the files beside the rows: reads its keys, remembers them, and finds the unknown ones.
class TableReader {
public:
    TableReader(const Node& table, std::vector<base::Finding>& findings) : table_{table}, findings_{findings} {}

    /// The value of a key: itself, or `value` of { value = ..., reason = ... }.
    [[nodiscard]] const Node* find(const char* key) {
        known_.emplace_back(key);
        const Node* node = table_.find(key);
        if (node != nullptr && node->kind == Node::Kind::table) {
            if (const Node* value = node->find("value")) return value;
            add(*node, key, "has no value", "{ value = ..., reason = \"...\" }");
            return nullptr;
        }
        return node;
    }
    void text(const char* key, std::string& value) {
        if (const Node* node = find(key)) {
            if (node->kind == Node::Kind::text)
                value = node->text;
            else
                add(*node, key, "is " + describe(*node), "text");
        }
    }
    void text(const char* key, std::optional<std::string>& value, const std::vector<std::string>& words) {
        std::string read;
        text(key, read);
        if (read.empty()) return;
        if (std::find(words.begin(), words.end(), read) == words.end()) {
            std::string list;
            for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
            add(table_, key, "\"" + read + "\" is not known", "one of " + list);
        } else {
            value = read;
        }
    }
    void texts(const char* key, std::vector<std::string>& values) {
        const Node* node = find(key);
        if (node == nullptr) return;
        if (node->kind != Node::Kind::array) return add(*node, key, "is " + describe(*node), "a list of texts");
        for (const Node& item : node->items) {
            if (item.kind != Node::Kind::text) return add(item, key, "is " + describe(item), "text");
            values.push_back(item.text);
        }
    }
    template <class Integer>
    void integer(const char* key, Integer& value, std::int64_t least) {
        const Node* node = find(key);
        if (node == nullptr) return;
        if (node->kind != Node::Kind::integer || node->integer < least || node->integer > 1'000'000)
            return add(*node, key, "is " + describe(*node), "an integer from " + std::to_string(least) + " on");
        value = static_cast<int>(node->integer);
    }
    void boolean(const char* key, std::optional<bool>& value) {
        const Node* node = find(key);
        if (node == nullptr) return;
        if (node->kind != Node::Kind::boolean) return add(*node, key, "is " + describe(*node), "true or false");
        value = node->boolean;
    }
    template <class Number>
    void number(const char* key, Number& value) {
        const Node* node = find(key);
        if (node == nullptr) return;
        const double read = node->kind == Node::Kind::integer ? static_cast<double>(node->integer) : node->real;
        if ((node->kind != Node::Kind::real && node->kind != Node::Kind::integer) || !(read >= 0.0) || read > 1e6)
            return add(*node, key, "is " + describe(*node), "a number from 0 on");
        value = read;
    }
    void numbers(const char* key, std::vector<double>& values) {
        const Node* node = find(key);
        if (node == nullptr) return;
        if (node->kind != Node::Kind::array) return add(*node, key, "is " + describe(*node), "a list of numbers");
        for (const Node& item : node->items) {
            if (item.kind != Node::Kind::real && item.kind != Node::Kind::integer)
                return add(item, key, "is " + describe(item), "a number");
            values.push_back(item.kind == Node::Kind::integer ? static_cast<double>(item.integer) : item.real);
        }
    }
    void add(const Node& node, const std::string& key, const std::string& message, const std::string& expected = {}) {
        findings_.push_back(finding_at(node.place, key, message, expected));
    }
    /// Last: every other key is unknown.
    void finish() {
        for (const Member& member : table_.members)
            if (std::find(known_.begin(), known_.end(), member.key) == known_.end()) {
                std::string list;
                for (const std::string& key : known_) list += (list.empty() ? "" : ", ") + key;
                findings_.push_back(
                    finding_at(member.place, member.key, "is not a key of this table", "one of " + list));
            }
    }

private:
    const Node& table_;
    std::vector<base::Finding>& findings_;
    std::vector<std::string> known_;
};

/// Calls `read` with each table of the array `name` in a TOML file.
template <class Read>
void for_each_table(const Node& root, const char* name, std::vector<base::Finding>& findings, const Read& read) {
    const Node* list = root.find(name);
    if (list == nullptr) return;
    for (const Node& table : list->items) {
        if (table.kind != Node::Kind::table) {
            findings.push_back(finding_at(table.place, name, "is " + describe(table), "a table"));
            continue;
        }
        TableReader reader{table, findings};
        read(reader);
        reader.finish();
    }
}

}  // namespace windtunnel::input
