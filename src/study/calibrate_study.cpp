#include "windtunnel/study/calibrate_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "windtunnel/base/errors.hpp"
#include "windtunnel/base/hash.hpp"
#include "windtunnel/base/nearest.hpp"
#include "windtunnel/base/pack.hpp"
#include "windtunnel/validate/train_rows.hpp"

namespace windtunnel::study {
namespace {

using calibrate::Candidate;
using Record = CalibrateStudy::Record;
constexpr double not_there = std::numeric_limits<double>::infinity();

[[noreturn]] void refuse(const std::string& field, const std::string& message, const std::string& expected) {
    throw base::InputError{{{{}, 0, 0, field, message, expected}}};
}

/// Name of the set of a calibration file: without folder and ending.
std::string stem(const std::string& path) {
    const auto slash = path.rfind('/');
    const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
    return name.substr(0, name.rfind('.'));
}

const model::CalibrationRule* shipped_set(const model::Measurements& measurements, const std::string& name) {
    for (const model::CalibrationRule& rule : measurements.calibrations)
        if (stem(rule.name) == name) return &rule;
    return nullptr;
}

bool contains(const std::vector<std::string>& list, const std::string& value) {
    return std::find(list.begin(), list.end(), value) != list.end();
}

std::vector<Candidate> free_ones(std::vector<Candidate> all) {
    std::erase_if(all, [](const Candidate& candidate) { return !candidate.is_free(); });
    return all;
}

std::vector<Candidate> chosen(const std::vector<Candidate>& all, const std::vector<std::string>& names) {
    std::vector<Candidate> some;
    for (const std::string& name : names)
        for (const Candidate& candidate : all)
            if (candidate.name == name) some.push_back(candidate);
    return some;
}

std::vector<double> priors(const std::vector<Candidate>& free) {
    std::vector<double> values;
    for (const Candidate& candidate : free) values.push_back(candidate.value.prior);
    return values;
}

std::vector<std::string> names_of(const std::vector<Candidate>& free) {
    std::vector<std::string> names;
    for (const Candidate& candidate : free) names.push_back(candidate.name);
    return names;
}

/// Four significant digits: what a calibration file holds is what was judged.
double rounded(double value, const calibrate::FreeValue& bounds) {
    const double unit = std::pow(10.0, std::floor(std::log10(value)) - 3.0);
    return std::clamp(std::round(value / unit) * unit, bounds.lower, bounds.upper);
}

void put(base::Packer& packer, const std::vector<Record>& records) {
    packer.put(static_cast<std::uint64_t>(records.size()));
    for (const Record& record : records) {
        packer.put(record.set);
        packer.put(record.number);
        packer.put(static_cast<std::uint64_t>(record.names.size()));
        for (const std::string& name : record.names) packer.put(std::string_view{name});
        packer.put(record.values);
        packer.put(record.numbers);
        packer.put(record.objective);
    }
}

std::vector<Record> get(base::Unpacker& unpacker) {
    std::vector<Record> records;
    for (auto left = unpacker.get<std::uint64_t>(); left > 0; --left) {
        Record& record = records.emplace_back();
        record.set = unpacker.get<std::uint32_t>();
        record.number = unpacker.get<std::uint64_t>();
        for (auto names = unpacker.get<std::uint64_t>(); names > 0; --names)
            record.names.push_back(unpacker.get_text());
        record.values = unpacker.get_vector<double>();
        record.numbers = unpacker.get_vector<double>();
        record.objective = unpacker.get<double>();
    }
    return records;
}

}  // namespace

CalibrateStudy::CalibrateStudy(const model::Measurements& measurements, CalibrateOptions options)
    : options_{std::move(options)}, sets_{std::make_shared<std::vector<Set>>()} {
    std::vector<std::string> known;
    for (const model::FitSet& spec : measurements.fit_sets) known.push_back(spec.name);
    for (const std::string& name : options_.sets)
        if (!contains(known, name)) refuse("--set", "\"" + name + "\" is no set", base::nearest_name(name, known));
    if (options_.own_set) {
        add_set(measurements, *options_.own_set);
    } else {
        for (const model::FitSet& spec : measurements.fit_sets)
            if (options_.sets.empty() || contains(options_.sets, spec.name)) add_set(measurements, spec);
    }
    add_rows(measurements);
    std::set<std::string> sources;
    for (const Set& set : *sets_)
        for (const calibrate::MeasuredStep& row : set.steps.rows) sources.insert(row.source);
    sources_.assign(sources.begin(), sources.end());
    if (sources_.empty()) refuse("DATA", "no row with a step time belongs to the sets", "rows of their software");
    const bool any_used = std::any_of(sets_->begin(), sets_->end(),
                                      [](const Set& set) { return !calibrate::used_rows(set.steps).empty(); });
    if (!any_used) refuse("DATA", "no row may be used to fit: their hashes are 4 or more modulo 10", "--all-rows");
    identity_ = fmt::format(
        "study = calibrate\nstarts = {}\nfolds = {}\nresamples = {}\nseed = {}\nleft out = {}\n"
        "all rows = {}\n",
        options_.starts, options_.folds, options_.resamples, options_.seed, options_.leave_one_source_out,
        options_.all_rows);
    for (const Set& set : *sets_) {
        identity_ += fmt::format("set {} parent {} rows {} ratio {}\n", set.spec.name, set.spec.parent,
                                 set.steps.rows.size(), set.steps.gemm_prior_ratio);
        for (const std::string& name : set.spec.free) identity_ += name + '\n';
    }
    for (const model::InputFile& file : measurements.files)
        identity_ += fmt::format("{} {}\n", file.role, base::hex_text(file.hash));
}

void CalibrateStudy::add_set(const model::Measurements& measurements, const model::FitSet& spec) {
    Set set;
    set.spec = spec;
    std::vector<std::string> known;
    for (const calibrate::Parameter& parameter : calibrate::parameters()) known.emplace_back(parameter.name);
    for (const std::string& name : spec.free)
        if (!contains(known, name))
            refuse(spec.name + ".free", "\"" + name + "\" is no value that a fit may move",
                   base::nearest_name(name, known));
    set.steps.name = spec.name;
    set.steps.free = spec.free;
    set.steps.releases = spec.releases;
    set.steps.gemm_prior_ratio = spec.gemm_prior_ratio.value_or(1.0);
    if (const model::CalibrationRule* rule = shipped_set(measurements, spec.name)) set.kept = rule->efficiency;
    if (!spec.parent.empty()) {
        for (std::uint32_t other = 0; other < sets_->size(); ++other)
            if (sets_->at(other).spec.name == spec.parent) set.parent = other;
        const model::CalibrationRule* shipped = shipped_set(measurements, spec.parent);
        if (!set.parent && shipped == nullptr)
            refuse(spec.name + ".parent", "\"" + spec.parent + "\" is no set", "a set of the fit file");
        if (!set.parent) set.kept_parent = shipped->efficiency;
        if (set.parent) set.generation = sets_->at(*set.parent).generation + 1;
    }
    sets_->push_back(std::move(set));
}

void CalibrateStudy::add_rows(const model::Measurements& measurements) {
    for (const model::PublishedRow& row : measurements.rows) {
        const auto measured = validate::measured_step_time_s(row);
        const model::CalibrationRule* rule = validate::calibration_of(row, measurements);
        Set* home = nullptr;
        for (Set& set : *sets_)
            if (options_.own_set ||
                (rule != nullptr && stem(rule->name) == set.spec.name && contains(set.spec.software, row.software)))
                home = &set;
        if (home == nullptr || !measured) continue;
        validate::RowJob job = validate::row_job(row, measurements);
        if (!job.problem.empty()) continue;
        calibrate::MeasuredStep step{
            row.id, row.file, model::fit_hash(row), std::move(job.job), job.layout, row.release, *measured, false};
        step.used = options_.all_rows || model::used_to_fit(row);
        const double predicted = calibrate::predicted_s(step, calibrate::prior_efficiency());
        if (!std::isfinite(predicted) || !(predicted > 0.0)) continue;  // the card lacks a rate that the layout needs
        home->steps.rows.push_back(std::move(step));
    }
}

std::uint32_t CalibrateStudy::num_generations() const {
    std::uint32_t most = 0;
    for (const Set& set : *sets_) most = std::max(most, set.generation);
    return most + 1;
}

std::vector<std::uint32_t> CalibrateStudy::generation_sets(std::uint32_t generation) const {
    std::vector<std::uint32_t> sets;
    for (std::uint32_t set = 0; set < sets_->size(); ++set)
        if (sets_->at(set).generation == generation) sets.push_back(set);
    return sets;
}

CalibrateStudy::State CalibrateStudy::start() const {
    State state;
    Record nothing;
    nothing.objective = not_there;
    state.best.assign(sets_->size(), nothing);
    state.final.assign(sets_->size(), nothing);
    return state;
}

// Rounds: starts and needed values of each generation, then folds and resamples of all sets, then the sources.
std::optional<Round> CalibrateStudy::next_round(const State& state) const {
    Round round;
    round.phase = round.number = state.round;
    const std::uint32_t generation = state.round / 2;
    if (generation < num_generations()) {
        const std::uint64_t sets = generation_sets(generation).size();
        const bool starts = state.round % 2 == 0;
        round.num_items = starts ? sets * options_.starts : sets;
        round.label = starts ? "calibrate: starts" : "calibrate: needed values";
    } else if (state.round == 2 * num_generations()) {
        round.num_items = sets_->size() * (options_.folds + options_.resamples);
        round.label = "calibrate: folds and resamples";
    } else if (state.round == 2 * num_generations() + 1 && options_.leave_one_source_out) {
        round.num_items = sources_.size();
        round.label = "calibrate: one source left out";
    } else {
        return std::nullopt;
    }
    return round;
}

std::string CalibrateStudy::round_context(const State& state, const Round&) const {
    base::Packer packer;
    put(packer, state.best);
    put(packer, state.final);
    return std::move(packer).take();
}

model::Efficiency CalibrateStudy::base_of(std::uint32_t number, const std::vector<Record>& final) const {
    const Set& set = sets_->at(number);
    if (set.parent) {
        const model::Efficiency parent = efficiency_of(*set.parent, final);
        return calibrate::base_efficiency(set.steps, &parent);
    }
    return calibrate::base_efficiency(set.steps, set.kept_parent ? &*set.kept_parent : nullptr);
}

model::Efficiency CalibrateStudy::efficiency_of(std::uint32_t set, const std::vector<Record>& final) const {
    std::vector<Candidate> free;
    for (const std::string& name : final.at(set).names) free.push_back({name, {}, 0});
    return calibrate::with_values(base_of(set, final), free, final.at(set).values);
}

Record CalibrateStudy::start_item(std::uint32_t number, std::uint64_t start, const std::vector<Record>& final) const {
    const calibrate::StepSet& set = sets_->at(number).steps;
    const model::Efficiency base = base_of(number, final);
    const auto rows = calibrate::used_rows(set);
    const auto free = free_ones(calibrate::candidates(set, base, rows));
    const calibrate::Problem problem = calibrate::problem_of(set, base, free, rows);
    const calibrate::Solution found =
        calibrate::solve(problem, calibrate::start_point(problem, options_.seed, start * 1000 + number));
    return {number, start, names_of(free), found.values, {}, found.objective};
}

Record CalibrateStudy::needed_item(std::uint32_t number, const std::vector<Record>& best,
                                   const std::vector<Record>& final) const {
    const calibrate::StepSet& set = sets_->at(number).steps;
    const model::Efficiency base = base_of(number, final);
    const auto rows = calibrate::used_rows(set);
    const auto free = chosen(calibrate::listed_values(set, base, rows), best.at(number).names);
    const calibrate::Choice choice = calibrate::needed_values(set, base, free, best.at(number).values, rows);
    Record record{number, 0, names_of(choice.free), choice.values, {}, 0.0};
    for (std::size_t j = 0; j < record.values.size(); ++j)
        record.values[j] = rounded(record.values[j], choice.free[j].value);
    return record;
}

/// The first items of a set are its folds (residuals of the rows that were left out, each behind its number), the
/// others resamples (values).
Record CalibrateStudy::sample_item(std::uint32_t number, std::uint64_t sample, const std::vector<Record>& final) const {
    const calibrate::StepSet& set = sets_->at(number).steps;
    const model::Efficiency base = base_of(number, final);
    const auto rows = calibrate::used_rows(set);
    const auto free = chosen(calibrate::listed_values(set, base, rows), final.at(number).names);
    Record record{number, sample, names_of(free), final.at(number).values, {}, 0.0};
    if (sample >= options_.folds) {
        calibrate::Problem problem = calibrate::problem_of(set, base, free, rows);
        problem.weights = calibrate::resampled_weights(rows.size(), options_.seed, sample * 1000 + number);
        problem.max_iterations = 5;
        record.values = calibrate::solve(problem, record.values).values;
        return record;
    }
    std::vector<std::size_t> seen, unseen;
    for (const std::size_t row : rows)
        (calibrate::fold_of(set.rows[row], options_.folds) == sample ? unseen : seen).push_back(row);
    calibrate::Problem problem = calibrate::problem_of(set, base, free, seen);
    record.values = calibrate::solve(problem, priors(free)).values;
    const model::Efficiency efficiency = calibrate::with_values(base, free, record.values);
    for (const std::size_t row : unseen) {
        record.numbers.push_back(static_cast<double>(row));
        record.numbers.push_back(
            std::log(calibrate::predicted_s(set.rows[row], efficiency) / set.rows[row].measured_s));
    }
    return record;
}

/// All sets again without the rows of a source, each from its priors, and what they say of these rows.
CalibrateStudy::Partial CalibrateStudy::source_item(std::uint64_t number, const std::vector<Record>& final) const {
    const std::string& source = sources_.at(number);
    std::vector<model::Efficiency> without(sets_->size());
    std::vector<char> changed(sets_->size(), 0);
    Partial records;
    for (std::uint32_t index = 0; index < sets_->size(); ++index) {
        const Set& set = sets_->at(index);
        Record record{index, number, {}, {}, {}, 0.0};
        const bool here = std::any_of(set.steps.rows.begin(), set.steps.rows.end(),
                                      [&](const calibrate::MeasuredStep& row) { return row.source == source; });
        changed[index] = here || (set.parent && changed[*set.parent] != 0) ? 1 : 0;
        if (changed[index] == 0) {
            without[index] = efficiency_of(index, final);
            continue;
        }
        const model::Efficiency* parent = set.parent        ? &without[*set.parent]
                                          : set.kept_parent ? &*set.kept_parent
                                                            : nullptr;
        const model::Efficiency base = calibrate::base_efficiency(set.steps, parent);
        const auto rows = calibrate::used_rows(set.steps, source);
        const auto free = free_ones(calibrate::candidates(set.steps, base, rows));
        const calibrate::Problem problem = calibrate::problem_of(set.steps, base, free, rows);
        without[index] = calibrate::with_values(base, free, calibrate::solve(problem, priors(free)).values);
        for (std::size_t row = 0; row < set.steps.rows.size(); ++row)
            if (set.steps.rows[row].source == source) {
                record.numbers.push_back(static_cast<double>(row));
                record.numbers.push_back(calibrate::predicted_s(set.steps.rows[row], without[index]));
            }
        if (here) records.push_back(std::move(record));
    }
    return records;
}

CalibrateStudy::Partial CalibrateStudy::evaluate(const Round& round, ItemRange items, std::string_view context) const {
    base::Unpacker unpacker{context};
    const std::vector<Record> best = get(unpacker), final = get(unpacker);
    Partial partial;
    const std::uint32_t generation = round.number / 2;
    for (std::uint64_t item = items.begin; item < items.end; ++item) {
        if (generation < num_generations()) {
            const auto sets = generation_sets(generation);
            if (round.number % 2 == 0)
                partial.push_back(start_item(sets[item % sets.size()], item / sets.size(), final));
            else
                partial.push_back(needed_item(sets[item], best, final));
        } else if (round.number == 2 * num_generations()) {
            partial.push_back(
                sample_item(static_cast<std::uint32_t>(item % sets_->size()), item / sets_->size(), final));
        } else {
            merge(partial, source_item(item, final));
        }
    }
    return partial;
}

void CalibrateStudy::merge(Partial& partial, const Partial& other) const {
    partial.insert(partial.end(), other.begin(), other.end());
}

std::string CalibrateStudy::pack(const Partial& partial) const {
    base::Packer packer;
    put(packer, partial);
    return std::move(packer).take();
}

CalibrateStudy::Partial CalibrateStudy::unpack(std::string_view bytes) const {
    base::Unpacker unpacker{bytes};
    Partial partial = get(unpacker);
    for (const Record& record : partial)
        if (record.set >= sets_->size() || (record.names.size() != record.values.size() && !record.values.empty()))
            throw base::PackError{"a packed fit is none of this study"};
    return partial;
}

void CalibrateStudy::absorb(State& state, const Round& round, std::uint64_t, const Partial& partial) const {
    const bool fits = round.number / 2 < num_generations();
    for (const Record& record : partial) {
        if (fits && round.number % 2 == 0) {
            if (record.objective < state.best.at(record.set).objective) state.best[record.set] = record;
        } else if (fits) {
            state.final.at(record.set) = record;
        } else {
            (round.number == 2 * num_generations() ? state.samples : state.sources).push_back(record);
        }
    }
    if (++state.blocks < round.num_blocks()) return;
    state.blocks = 0;
    ++state.round;
}

}  // namespace windtunnel::study
