#pragma once
/// What a fit says of the values of a calibration: evidence for people and for the count of fitted values, not part of
/// a plan.
#include <string>
#include <vector>

namespace windtunnel::model {

struct FittedValue {
    std::string name;  ///< key of the calibration file, or "release 26.04"
    std::string unit;  ///< of all numbers here
    double value = 0.0;
    double prior = 0.0;               ///< value without data
    double lower = 0.0, upper = 0.0;  ///< physical bounds
    double low = 0.0, high = 0.0;     ///< 95 % interval by bootstrap; equal to the value where it is assumed
    int num_rows = 0;                 ///< fitted rows whose step time it moves
    bool assumed = false;             ///< the data leave it at its prior
};

struct FitRecord {
    std::vector<FittedValue> values;
    std::vector<std::string> rows;  ///< hashes of the rows behind the fit
};

/// Values that the data determine.
[[nodiscard]] inline int num_fitted(const FitRecord& record) noexcept {
    int count = 0;
    for (const FittedValue& value : record.values) count += value.assumed ? 0 : 1;
    return count;
}

}  // namespace windtunnel::model
