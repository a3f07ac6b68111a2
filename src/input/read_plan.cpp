#include <fmt/format.h>

#include <algorithm>

#include "binders.hpp"
#include "files_reader.hpp"
#include "key_tables.hpp"
#include "overrides.hpp"
#include "plan_text.hpp"
#include "windtunnel/input/toml_document.hpp"
#include "windtunnel/input/traces.hpp"

namespace windtunnel::input {
namespace {

/// Reads a plan and what it names; each step adds its findings and goes on.
class PlanReader {
public:
    PlanReader(const std::string& path, const FileProvider& provider) : path_{path}, reader_{provider} {}

    model::Plan read(const std::vector<Override>& overrides) {
        const auto content = reader_.text(path_, "plan");
        auto root = content ? parse_toml(*content, path_, reader_.findings) : std::nullopt;
        if (!root) throw base::InputError{std::move(reader_.findings)};
        for (const Override& change : overrides) apply_override(*root, change, reader_.findings);
        values_ = read_values(*root, key_file("plan"), reader_.findings);
        reader_.note_assumptions(values_, "plan");
        head();
        const std::size_t before_model = reader_.findings.size();
        model();
        cluster();
        const bool hardware_good = reader_.findings.size() == before_model;
        calibration();
        failures();
        training(hardware_good);
        serving(hardware_good);
        studies();
        if (!reader_.findings.empty()) throw base::InputError{std::move(reader_.findings)};
        notes();
        plan_.files = std::move(reader_.files);
        plan_.resolved_text = resolved_text(plan_);
        return std::move(plan_);
    }

private:
    void add(const char* key, std::string message, std::string expected) {
        const Value& value = values_[key];
        reader_.findings.push_back(
            finding_at(value.given ? value.place : values_.place, key, std::move(message), std::move(expected)));
    }

    /// The values of the file that `key` of `values` names; empty: not given, or after a finding.
    std::optional<Values> file_of(const Values& values, const char* key, const char* kind, const std::string& base) {
        const Value& value = values[key];
        if (!value.given || value.bad) return std::nullopt;
        return reader_.values(beside(base, value.text), kind, value.place, field_of(values, key));
    }

    void head() {
        plan_.title = values_.text("plan.title");
        plan_.seed = static_cast<std::uint64_t>(values_["plan.seed"].integer);
    }

    void model() {
        const Value& named = values_["plan.model"];
        if (!named.given || named.bad) return;
        if (auto transformer = reader_.model(beside(path_, named.text), named.place, "plan.model"))
            plan_.transformer = std::move(*transformer);
    }

    /// The card of a file that `key` names; remembers the calibration that the card names.
    model::Accelerator accelerator(const Values& values, const char* key, const std::string& base) {
        const auto read = file_of(values, key, "accelerator", base);
        if (!read) return {};
        const bool moe = plan_.transformer.experts && (*read).given("calibration_moe");
        const Value& calibration = (*read)[moe ? "calibration_moe" : "calibration"];
        if (calibration.given && !calibration.bad)
            card_calibration_ = {beside(beside(base, values.text(key)), calibration.text), calibration.place};
        return bind_accelerator(*read, reader_.findings);
    }

    void cluster() {
        const bool by_file = values_.given("plan.cluster"), by_card = values_.given("plan.accelerator"),
                   in_place = values_.has_section("cluster");
        const int ways = int{by_file} + int{by_card} + int{in_place};
        if (ways != 1) {
            const char* key = by_file ? "plan.cluster" : "plan.accelerator";
            add(key, ways == 0 ? "no cluster is given" : "the cluster is given more than once",
                "one of plan.cluster, plan.accelerator with plan.nodes, or a table [cluster]");
            return;
        }
        if (!by_card)
            for (const char* key : {"plan.nodes", "plan.cards"})
                if (values_.given(key))
                    add(key, "has no meaning without plan.accelerator",
                        "plan.accelerator, or the size in the cluster file");
        if (by_card) {
            plan_.cluster.accelerator = accelerator(values_, "plan.accelerator", path_);
            bind_cluster_size(values_.below("plan"), plan_.cluster, reader_.findings);
        } else if (in_place) {
            const Values values = values_.below("cluster");
            if (!values.given("accelerator")) return add("cluster.accelerator", "is missing", "an accelerator file");
            plan_.cluster = bind_cluster(values, accelerator(values, "accelerator", path_), reader_.findings);
        } else if (const auto values = file_of(values_, "plan.cluster", "cluster", path_)) {
            const std::string base = beside(path_, values_.text("plan.cluster"));
            plan_.cluster = bind_cluster(*values, accelerator(*values, "accelerator", base), reader_.findings);
        }
        if (plan_.cluster.id.empty()) plan_.cluster.id = plan_.cluster.accelerator.id;
    }

    /// The newest release of the calibration, or the one that the plan names.
    void choose_release() {
        if (!values_.given("calibration.release")) return;
        const std::string wanted = values_.text("calibration.release");
        if (wanted == "average") {
            plan_.efficiency.choose_release({});
            return;
        }
        std::string list;
        for (const model::ReleaseFactor& known : plan_.efficiency.releases)
            list += (list.empty() ? "" : ", ") + known.release;
        if (!plan_.efficiency.choose_release(wanted))
            add("calibration.release",
                fmt::format("\"{}\" is no release of the calibration {}", wanted, plan_.efficiency.name),
                list.empty() ? "no release: this calibration names none" : "average, or one of " + list);
    }

    void calibration() {
        std::optional<Values> values;
        if (values_.given("calibration.file")) {
            values = file_of(values_, "calibration.file", "calibration", path_);
        } else if (card_calibration_) {
            values = reader_.values(card_calibration_->first, "calibration", card_calibration_->second, "calibration");
        } else {
            reader_.assumptions.push_back(
                "calibration = default set (assumed: neither the plan nor the accelerator names one)");
        }
        if (!values) return;
        plan_.efficiency = bind_efficiency(*values, reader_.findings);
        choose_release();
        const std::string fitted = values->text("fitted_models");
        if (fitted == "any" || (fitted == "moe") == plan_.transformer.experts.has_value()) return;
        plan_.efficiency.step_time_error_90 = 0.0;  // unknown: no row of this kind was behind the fit
        reader_.assumptions.push_back(fmt::format(
            "calibration = {} (assumed: fitted to {} models only, so the error of the step time is not known)",
            values->text("name"), fitted == "moe" ? "MoE" : "dense"));
    }

    void failures() {
        const bool by_file = values_.given("plan.failures"), in_place = values_.has_section("failures");
        if (by_file && in_place)
            return add("plan.failures", "stands together with a table [failures]", "one of the two");
        if (in_place) plan_.failures = bind_failures(values_.below("failures"), reader_.findings);
        if (const auto values = file_of(values_, "plan.failures", "failures", path_))
            plan_.failures = bind_failures(*values, reader_.findings);
        plan_.recovery = bind_recovery(values_, plan_.failures, reader_.findings);
        const int nodes = plan_.cluster.num_nodes;
        if (nodes <= 0 || !plan_.recovery.spare_nodes) return;
        if (*plan_.recovery.spare_nodes >= nodes)
            return add("recovery.spare_nodes",
                       fmt::format("{} spares of {} nodes leave none to work", *plan_.recovery.spare_nodes, nodes),
                       fmt::format("at most {}", nodes - 1));
        plan_.cluster.reserved_nodes = *plan_.recovery.spare_nodes;
        plan_.cluster.num_nodes -= plan_.cluster.reserved_nodes;
    }

    void training(bool hardware_good) {
        if (!values_.has_section("train")) return;
        const std::size_t before = reader_.findings.size();
        plan_.training = bind_training(values_, plan_.cluster, reader_.findings);
        if (hardware_good && reader_.findings.size() == before && !values_.has_bad("train") &&
            plan_.training->sequence_length > 0)
            check_layout_rules(plan_, values_, reader_.findings);
    }

    void serving(bool hardware_good) {
        if (!values_.has_section("serve")) return;
        const std::size_t before = reader_.findings.size();
        plan_.serving = bind_serving(values_, reader_.findings);
        if (values_.given("serve.engine")) {
            if (const auto values = file_of(values_, "serve.engine", "engine", path_))
                plan_.serving->engine = bind_engine_efficiency(*values);
        } else {
            reader_.assumptions.push_back("serve.engine = default set (assumed: shares that engines of 2025 reach)");
        }
        const Value& named = values_["serve.load.trace"];
        if (named.given && !named.bad) {
            const std::string path = beside(path_, named.text);
            if (const auto content = reader_.text(path, "trace", named.place, "serve.load.trace"))
                plan_.serving->load.trace = read_trace(*content, path, reader_.findings);
        }
        if (hardware_good && reader_.findings.size() == before && !values_.has_bad("serve"))
            check_serving_rules(plan_, values_, reader_.findings);
    }

    void studies() {
        plan_.search = bind_search(values_);
        const Values rehearsal = values_.below("rehearsal"), cost = values_.below("cost");
        if (rehearsal.given("horizon")) plan_.rehearsal.horizon = Seconds{rehearsal.number("horizon")};
        if (rehearsal.given("tokens")) plan_.rehearsal.tokens = rehearsal.number("tokens");
        plan_.rehearsal.trials = rehearsal["trials"].integer;
        plan_.cost.card = UsdPerSecond{cost.number("card_hour")};
        plan_.cost.energy = UsdPerJoule{cost.number("energy_price")};
        plan_.cost.pue = cost.number("pue");
        plan_.cost.spare_node = UsdPerSecond{cost.number("spare_node")};
    }

    /// Defaults and assumptions that people should see.
    void notes() {
        for (const Key& key : key_file("plan").keys) {
            const auto found = values_.values.find(key.path);
            if (found == values_.values.end() || found->second.given || !found->second.present ||
                key.kind == KeyKind::text)
                continue;
            const std::string section = key.path.substr(0, key.path.find('.'));
            if (section == "train" && !plan_.training) continue;
            if (section == "serve" && !plan_.serving) continue;
            if (section == "recovery" && plan_.failures.empty()) continue;
            if (is_method(key.path) && !values_.has_section(key.path.substr(0, key.path.rfind('.')))) continue;
            plan_.implicit_defaults.push_back(fmt::format("{} = {}", key.path, found->second.spelling));
        }
        if (!plan_.failures.empty() && !values_.given("recovery.restart"))
            reader_.assumptions.push_back("recovery.restart = 600 s (assumed)");
        plan_.assumptions = std::move(reader_.assumptions);
    }

    const std::string& path_;
    FilesReader reader_;
    Values values_;
    model::Plan plan_;
    std::optional<std::pair<std::string, Place>> card_calibration_;
};

}  // namespace

model::Plan read_plan(const std::string& path, const std::vector<Override>& overrides, const FileProvider& provider) {
    return PlanReader{path, provider}.read(overrides);
}

}  // namespace windtunnel::input
