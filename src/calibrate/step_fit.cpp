#include "windtunnel/calibrate/step_fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "windtunnel/base/contracts.hpp"
#include "windtunnel/train/step.hpp"

namespace windtunnel::calibrate {
namespace {

/// A value stays free when it lowers the sum of |e| by more than this part of the mean |e| of the rows.
constexpr double worth_of_a_value = 0.1;
constexpr std::string_view release_head = "release ";
constexpr double least_touch = 2e-3;

bool is_release(const std::string& name) {
    return name.starts_with(release_head);
}

/// A prior inside the bounds; a value that is 0 in the base (the host) starts at the prior of its parameter.
FreeValue free_value(const Parameter& parameter, const model::Efficiency& base) {
    const double there = parameter.get(base);
    const double prior = there > 0.0 ? std::clamp(there, parameter.lower, parameter.upper) : parameter.prior;
    return {prior, parameter.lower, parameter.upper, parameter.width};
}

std::vector<std::string> names_of_releases(const StepSet& set, const std::vector<std::size_t>& rows) {
    std::map<std::string, int> count;
    for (const std::size_t row : rows)
        if (!set.rows[row].release.empty()) ++count[set.rows[row].release];
    std::vector<std::string> names;
    for (const auto& [name, number] : count)
        if (number >= least_rows) names.push_back(name);
    return names;
}

}  // namespace

model::Efficiency base_efficiency(const StepSet& set, const model::Efficiency* parent) {
    model::Efficiency base = prior_efficiency();
    if (parent != nullptr) {
        for (const Parameter& parameter : parameters()) parameter.set(base, parameter.get(*parent));
        const Parameter& gemm = *find_parameter("gemm");
        base.gemm = std::clamp(base.gemm * set.gemm_prior_ratio, gemm.lower, gemm.upper);
    }
    base.name = set.name;
    return base;
}

double predicted_s(const MeasuredStep& row, const model::Efficiency& efficiency) {
    train::Job job = row.job;
    job.efficiency = efficiency;
    job.efficiency.choose_release(row.release);
    return train::step_time(job, row.layout, train::unit_costs(job, train::unit_key(row.layout))).value();
}

std::vector<Candidate> listed_values(const StepSet& set, const model::Efficiency& base,
                                     const std::vector<std::size_t>& rows) {
    std::vector<Candidate> all;
    for (const std::string& name : set.free) {
        const Parameter* parameter = find_parameter(name);
        base::expects(parameter != nullptr, "free values are parameters");
        all.push_back({name, free_value(*parameter, base)});
    }
    if (set.releases)
        for (const std::string& name : names_of_releases(set, rows))
            all.push_back({std::string{release_head} + name, {1.0, release_lower, release_upper, release_width}});
    return all;
}

std::vector<Candidate> candidates(const StepSet& set, const model::Efficiency& base,
                                  const std::vector<std::size_t>& rows) {
    std::vector<Candidate> all = listed_values(set, base, rows);
    const Problem problem = problem_of(set, base, all, rows);
    std::vector<double> point;
    for (const Candidate& candidate : all) point.push_back(candidate.value.prior);
    const std::vector<double> there = problem.residuals(point);
    const std::vector<double> jacobian = sensitivities(problem, point, there);
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t j = 0; j < all.size(); ++j)
            all[j].num_rows += std::abs(jacobian[i * all.size() + j]) > least_touch ? 1 : 0;
    return all;
}

model::Efficiency with_values(const model::Efficiency& base, const std::vector<Candidate>& free,
                              const std::vector<double>& values) {
    model::Efficiency efficiency = base;
    for (std::size_t j = 0; j < free.size(); ++j)
        if (is_release(free[j].name))
            efficiency.releases.push_back({free[j].name.substr(release_head.size()), values[j]});
        else
            find_parameter(free[j].name)->set(efficiency, values[j]);
    return efficiency;
}

Problem problem_of(const StepSet& set, const model::Efficiency& base, const std::vector<Candidate>& free,
                   const std::vector<std::size_t>& rows) {
    Problem problem;
    for (const Candidate& candidate : free) problem.values.push_back(candidate.value);
    problem.weights.assign(rows.size(), 1.0);
    problem.residuals = [&set, &base, &free, &rows](std::span<const double> values) {
        const model::Efficiency efficiency = with_values(base, free, {values.begin(), values.end()});
        std::vector<double> residuals;
        residuals.reserve(rows.size());
        for (const std::size_t row : rows)
            residuals.push_back(std::log(predicted_s(set.rows[row], efficiency) / set.rows[row].measured_s));
        return residuals;
    };
    return problem;
}

Choice needed_values(const StepSet& set, const model::Efficiency& base, const std::vector<Candidate>& free,
                     std::vector<double> values, const std::vector<std::size_t>& rows) {
    Choice choice{free, std::move(values)};
    Solution now = solve(problem_of(set, base, choice.free, rows), choice.values);
    choice.values = now.values;
    std::vector<std::string> order;
    const auto distance = [&](std::size_t j) {
        return std::abs(std::log(choice.values[j] / free[j].value.prior)) / free[j].value.width;
    };
    std::vector<std::size_t> indices(free.size());
    std::iota(indices.begin(), indices.end(), std::size_t{0});
    std::stable_sort(indices.begin(), indices.end(),
                     [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
    for (const std::size_t index : indices) order.push_back(free[index].name);
    for (const std::string& name : order) {
        Choice less;
        for (std::size_t j = 0; j < choice.free.size(); ++j)
            if (choice.free[j].name != name) {
                less.free.push_back(choice.free[j]);
                less.values.push_back(choice.values[j]);
            }
        const Solution without = solve(problem_of(set, base, less.free, rows), less.values);
        const double worth = worth_of_a_value * now.loss / static_cast<double>(std::max<std::size_t>(1, rows.size()));
        if (without.objective - now.objective > worth) continue;
        now = without;
        choice = std::move(less);
        choice.values = now.values;
    }
    return choice;
}

std::vector<std::size_t> used_rows(const StepSet& set, const std::optional<std::string>& without_source) {
    std::vector<std::size_t> rows;
    for (std::size_t row = 0; row < set.rows.size(); ++row)
        if (set.rows[row].used && (!without_source || set.rows[row].source != *without_source)) rows.push_back(row);
    return rows;
}

}  // namespace windtunnel::calibrate
