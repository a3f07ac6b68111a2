#pragma once
/// How long an operator takes, by a measured table.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "windtunnel/compute/log_space_model.hpp"
#include "windtunnel/model/operator_table.hpp"

namespace windtunnel::compute {

/// Where a time comes from: a row of the table; rows around it; or, outside the range of the rows, the trend of traffic
/// and work that they show. A caller without any rows uses the roofline of the card (first principles).
enum class TimeBasis { measured, interpolated, first_principles };

struct OperatorTime {
    Seconds time;
    TimeBasis basis = TimeBasis::first_principles;
    std::string warning;  ///< outside the range: which column, and the range
};

/// One quantity of a table (one column of times), ready to be asked.
///
/// Model:   rows of equal keys form one LogSpaceModel; a row that is asked for exactly is given as measured (the mean
/// of
///          equal rows).
/// Inputs:  a table whose shape has the quantity; `at` as its axes and covariates, finite and >= 0.
/// Returns: time(key, at): empty when no row has the key. > 0.
/// Limits:  keys are never interpolated.
/// Source:  log_space_model.hpp.
class OperatorTimes {
public:
    OperatorTimes(const model::OperatorTable& table, const std::string& quantity);

    [[nodiscard]] std::optional<OperatorTime> time(std::span<const std::string> key, std::span<const double> at) const;

    /// A row of the table, and what the others say about it.
    struct LeftOut {
        std::size_t row = 0;  ///< of the table
        Seconds measured, predicted;
    };
    /// Inner points: rows that lie inside the line of at least four values along one of the axes, all other columns of
    /// keys and axes equal.
    [[nodiscard]] std::vector<LeftOut> left_out() const;

private:
    struct Group {
        std::vector<std::string> key;
        std::vector<std::size_t> rows;
        std::vector<MeasuredPoint> points;
        LogSpaceModel model;
    };
    [[nodiscard]] const Group* find(std::span<const std::string> key) const;

    model::OperatorTableShape shape_;
    std::vector<char> is_inner_;  ///< by row of the table
    std::vector<Group> groups_;
};

/// Values of the cost terms of a shape. Cores: of the card that the key names; waves without a core count are tiles.
[[nodiscard]] std::vector<double> term_values(const model::OperatorTableShape& shape, std::span<const std::string> key,
                                              std::span<const double> at);

}  // namespace windtunnel::compute
