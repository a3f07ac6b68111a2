#include "windtunnel/input/recovery_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "binders.hpp"
#include "files_reader.hpp"
#include "windtunnel/base/nearest.hpp"
#include "windtunnel/input/toml_document.hpp"

namespace windtunnel::input {
namespace {

model::FilePlace place_of(const Values& table) {
    return {table.place.file, table.place.line, table.place.column, table.field};
}

class MachineBinder {
public:
    MachineBinder(const Values& file, Findings& findings) : file_{file}, findings_{findings} {}

    model::RecoveryMachine bind() {
        machine_.title = file_.text("title");
        for (const Values& table : file_["state"].tables) state(table);
        machine_.initial = named(file_["initial"], "initial");
        machine_.final = named(file_["final"], "final");
        for (const Values& table : file_["transition"].tables) transition(table);
        if (findings_.empty()) check();
        return std::move(machine_);
    }

private:
    void add(const Place& place, std::string field, std::string message, std::string expected) {
        findings_.push_back(finding_at(place, std::move(field), std::move(message), std::move(expected)));
    }

    void state(const Values& table) {
        model::RecoveryState one{table.text("name"), table["time"].law, {}, place_of(table)};
        if (table.given("limit")) one.limit = Seconds{table.number("limit")};
        if (std::find(names_.begin(), names_.end(), one.name) != names_.end())
            add(table["name"].place, field_of(table, "name"), fmt::format("\"{}\" stands twice", one.name),
                "a name of its own");
        names_.push_back(one.name);
        machine_.states.push_back(std::move(one));
    }

    std::size_t named(const Value& value, const std::string& field) {
        const auto found = std::find(names_.begin(), names_.end(), value.text);
        if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin());
        add(value.place, field, fmt::format("\"{}\" is no state", value.text),
            "nearest: " + base::nearest_name(value.text, names_));
        return 0;
    }

    void transition(const Values& table) {
        const std::size_t before = findings_.size();
        model::RecoveryTransition one;
        one.from = named(table["from"], field_of(table, "from"));
        one.to = named(table["to"], field_of(table, "to"));
        one.event = table.text("event");
        one.probability = table.number("probability");
        one.place = place_of(table);
        if (findings_.size() > before) return;
        if (machine_.row(one.from, one.event))
            add(table["event"].place, field_of(table, "event"),
                fmt::format("{} has the event {} already", names_[one.from], one.event),
                "one row for each state and event");
        machine_.transitions.push_back(std::move(one));
    }

    /// States that are seen from `from` along the rows, or against them.
    [[nodiscard]] std::vector<bool> seen(std::size_t from, bool forward) const {
        std::vector<bool> found(machine_.states.size(), false);
        found[from] = true;
        for (std::size_t round = 0; round < found.size(); ++round)
            for (const model::RecoveryTransition& row : machine_.transitions) {
                const std::size_t a = forward ? row.from : row.to, b = forward ? row.to : row.from;
                if (found[a]) found[b] = true;
            }
        return found;
    }

    void check() {
        const std::vector<bool> reached = seen(machine_.initial, true), ending = seen(machine_.final, false);
        std::vector<double> sum(machine_.states.size(), 0.0);
        for (const model::RecoveryTransition& row : machine_.transitions) sum[row.from] += row.probability;
        for (std::size_t i = 0; i < machine_.states.size(); ++i) {
            const Values& table = file_["state"].tables[i];
            const std::string& name = names_[i];
            if (!reached[i])
                add(table.place, table.field, fmt::format("{} is never reached: the ladder has a gap", name),
                    "a row that leads there");
            if (!ending[i])
                add(table.place, table.field,
                    fmt::format("{} does not lead to {}: the ladder has a gap", name, names_[machine_.final]),
                    "a row that leads on");
            if (i == machine_.final && sum[i] > 0.0)
                add(table.place, table.field, fmt::format("{} is the end and has probabilities", name), "none");
            if (i != machine_.final && std::abs(sum[i] - 1.0) > 1e-9)
                add(table.place, table.field, fmt::format("the probabilities of {} sum to {}", name, sum[i]), "1");
        }
    }

    const Values& file_;
    Findings& findings_;
    model::RecoveryMachine machine_;
    std::vector<std::string> names_;
};

}  // namespace

model::RecoveryMachine read_recovery_machine(const std::string& path, const FileProvider& provider) {
    FilesReader reader{provider};
    const auto values = reader.values(path, "machine");
    if (!values || !reader.findings.empty()) throw base::InputError{std::move(reader.findings)};
    Findings findings;
    model::RecoveryMachine machine = MachineBinder{*values, findings}.bind();
    if (!findings.empty()) throw base::InputError{std::move(findings)};
    return machine;
}

model::RecoveryMachine read_recovery_machine(const std::string& path) {
    return read_recovery_machine(path, read_file);
}

bool is_recovery_machine_file(const std::string& path) {
    const FileText file = read_file(path);
    if (!file.problem.empty() || file.folder) return false;
    std::vector<base::Finding> findings;
    const auto root = parse_toml(file.text, path, findings);
    return root && root->find("state") != nullptr && root->find("transition") != nullptr;
}

}  // namespace windtunnel::input
