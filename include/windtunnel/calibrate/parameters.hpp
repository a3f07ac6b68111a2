#pragma once
/// The values of model::Efficiency that a fit may move: unit, physical bounds, prior and how far from it is usual.
///
/// Model:   each is a rate or a time of a card and its software, never of a model or a row.
/// Source:  bounds: a fraction of a data-sheet rate lies in (0, 1]; times as the file docs/models/calibrate.md says.
#include <span>
#include <string_view>

#include "windtunnel/model/efficiency.hpp"

namespace windtunnel::calibrate {

struct Parameter {
    std::string_view name;  ///< key of the calibration file
    std::string_view unit;
    double prior, lower, upper;  ///< in the unit
    double width;                ///< of ln(value / prior)
    /// Value of a set in the unit, and back. What is hidden is fitted as what is left visible: 1 - hidden.
    double (*get)(const model::Efficiency&);
    void (*set)(model::Efficiency&, double);
};

[[nodiscard]] std::span<const Parameter> parameters();
/// Null: no parameter has this name.
[[nodiscard]] const Parameter* find_parameter(std::string_view name);

/// A release factor: time of a layer relative to the average of the set.
inline constexpr double release_lower = 0.5, release_upper = 2.0, release_width = 0.2;

/// Every parameter at its prior; what is not a parameter as the defaults say.
[[nodiscard]] model::Efficiency prior_efficiency();

}  // namespace windtunnel::calibrate
