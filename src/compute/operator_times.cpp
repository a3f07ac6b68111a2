#include "windtunnel/compute/operator_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "windtunnel/base/contracts.hpp"

namespace windtunnel::compute {
namespace {

std::size_t column_of(const model::OperatorTableShape& shape, const std::string& name) {
    for (std::size_t i = 0; i < shape.axes.size(); ++i)
        if (shape.axes[i] == name) return i;
    for (std::size_t i = 0; i < shape.covariates.size(); ++i)
        if (shape.covariates[i] == name) return shape.axes.size() + i;
    return shape.axes.size() + shape.covariates.size();
}

double waves(const model::OperatorTableShape& shape, std::span<const std::string> key, std::span<const double> at) {
    constexpr double tile = 128.0;
    const std::size_t m = column_of(shape, "m"), n = column_of(shape, "n");
    if (m >= at.size() || n >= at.size()) return 1.0;
    double cores = 1.0;
    for (const std::string& value : key)
        if (const auto found = shape.cores.find(value); found != shape.cores.end()) cores = found->second;
    return std::ceil(std::ceil(at[m] / tile) * std::ceil(at[n] / tile) / cores);
}

/// Rows inside a line along one axis: all keys and all other axes equal, at least four values.
std::vector<char> inner_rows(const model::OperatorTable& table, std::size_t quantity) {
    std::vector<char> inner(table.rows.size(), 0);
    for (std::size_t axis = 0; axis < table.shape.axes.size(); ++axis) {
        std::map<std::pair<std::vector<std::string>, std::vector<double>>, std::set<double>> lines;
        const auto line_of = [&](const model::OperatorRow& row) {
            std::vector<double> others{row.at.begin(),
                                       row.at.begin() + static_cast<std::ptrdiff_t>(table.shape.axes.size())};
            others[axis] = 0.0;
            return std::pair{row.key, others};
        };
        for (const model::OperatorRow& row : table.rows)
            if (row.time[quantity]) lines[line_of(row)].insert(row.at[axis]);
        for (std::size_t i = 0; i < table.rows.size(); ++i) {
            const model::OperatorRow& row = table.rows[i];
            if (!row.time[quantity]) continue;
            const std::set<double>& values = lines[line_of(row)];
            if (values.size() >= 4 && row.at[axis] > *values.begin() && row.at[axis] < *values.rbegin()) inner[i] = 1;
        }
    }
    return inner;
}

}  // namespace

std::vector<double> term_values(const model::OperatorTableShape& shape, std::span<const std::string> key,
                                std::span<const double> at) {
    std::vector<double> values;
    values.reserve(shape.terms.size());
    for (const auto& factors : shape.terms) {
        double product = 1.0;
        for (const model::TermFactor& factor : factors) {
            const double base = factor.column == model::TermFactor::waves ? waves(shape, key, at)
                                                                          : at[static_cast<std::size_t>(factor.column)];
            product *= factor.power == 1.0 ? base : std::pow(base, factor.power);
        }
        values.push_back(std::isfinite(product) ? product : 0.0);
    }
    return values;
}

OperatorTimes::OperatorTimes(const model::OperatorTable& table, const std::string& quantity) : shape_{table.shape} {
    const auto found = std::find(shape_.quantities.begin(), shape_.quantities.end(), quantity);
    base::expects(found != shape_.quantities.end(), "the table has the quantity");
    const auto column = static_cast<std::size_t>(found - shape_.quantities.begin());
    if (shape_.terms.empty()) {  // start-up, and each column by itself
        shape_.terms.emplace_back();
        for (std::size_t i = 0; i < shape_.axes.size(); ++i) shape_.terms.push_back({{static_cast<int>(i), 1.0}});
    }
    is_inner_ = inner_rows(table, column);
    std::map<std::vector<std::string>, std::vector<std::size_t>> rows_of;
    for (std::size_t i = 0; i < table.rows.size(); ++i)
        if (const auto& time = table.rows[i].time[column]; time && *time > 0.0) rows_of[table.rows[i].key].push_back(i);
    for (auto& [key, rows] : rows_of) {
        std::vector<MeasuredPoint> points;
        for (const std::size_t i : rows)
            points.push_back(
                {table.rows[i].at, term_values(shape_, key, table.rows[i].at), *table.rows[i].time[column]});
        groups_.push_back({key, rows, points, LogSpaceModel{points, {shape_.scales, shape_.noise, shape_.roughness}}});
    }
}

const OperatorTimes::Group* OperatorTimes::find(std::span<const std::string> key) const {
    const auto found = std::lower_bound(groups_.begin(), groups_.end(), key, [](const Group& group, auto wanted) {
        return std::lexicographical_compare(group.key.begin(), group.key.end(), wanted.begin(), wanted.end());
    });
    return found != groups_.end() && std::equal(key.begin(), key.end(), found->key.begin(), found->key.end()) ? &*found
                                                                                                              : nullptr;
}

std::optional<OperatorTime> OperatorTimes::time(std::span<const std::string> key, std::span<const double> at) const {
    base::expects(at.size() == shape_.axes.size() + shape_.covariates.size(), "a number for each axis and covariate");
    const Group* group = find(key);
    if (group == nullptr) return std::nullopt;
    double sum = 0.0;
    int equal = 0;
    for (const MeasuredPoint& point : group->points)
        if (std::equal(at.begin(), at.end(), point.at.begin(), point.at.end())) sum += point.seconds, ++equal;
    if (equal > 0) return OperatorTime{Seconds{sum / equal}, TimeBasis::measured, {}};
    OperatorTime answer{group->model.time(at, term_values(shape_, key, at)), TimeBasis::interpolated, {}};
    if (group->model.covers(at)) return answer;
    answer.basis = TimeBasis::first_principles;
    answer.warning = shape_.name + ": outside the measured range";
    for (std::size_t c = 0; c < at.size(); ++c) {
        double least = group->points.front().at[c], greatest = least;
        for (const MeasuredPoint& point : group->points)
            least = std::min(least, point.at[c]), greatest = std::max(greatest, point.at[c]);
        if (at[c] < least || at[c] > greatest)
            answer.warning +=
                fmt::format(", {} {} (measured {} to {})",
                            c < shape_.axes.size() ? shape_.axes[c] : shape_.covariates[c - shape_.axes.size()], at[c],
                            least, greatest);
    }
    return answer;
}

std::vector<OperatorTimes::LeftOut> OperatorTimes::left_out() const {
    std::vector<LeftOut> all;
    for (const Group& group : groups_) {
        const bool any =
            std::any_of(group.rows.begin(), group.rows.end(), [this](std::size_t i) { return is_inner_[i] != 0; });
        if (!any) continue;
        const std::vector<Seconds> predicted = group.model.left_out();
        for (std::size_t i = 0; i < group.rows.size(); ++i)
            if (is_inner_[group.rows[i]] != 0)
                all.push_back({group.rows[i], Seconds{group.points[i].seconds}, predicted[i]});
    }
    std::sort(all.begin(), all.end(), [](const LeftOut& a, const LeftOut& b) { return a.row < b.row; });
    return all;
}

}  // namespace windtunnel::compute
