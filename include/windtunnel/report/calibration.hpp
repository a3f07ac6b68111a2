#pragma once
/// Fitted sets of efficiencies: as files that plans read, and as text and JSON.
#include <string>

#include "windtunnel/study/calibrate_study.hpp"

namespace windtunnel::report {

/// inputs/calibrations/NAME.toml.
[[nodiscard]] std::string calibration_toml(const study::SetAnswer& set);

/// inputs/measurements/train/leave_one_source_out.toml.
[[nodiscard]] std::string left_out_toml(const study::CalibrateAnswer& answer);

[[nodiscard]] std::string calibration_text(const study::CalibrateAnswer& answer);
[[nodiscard]] std::string calibration_json(const study::CalibrateAnswer& answer);

}  // namespace windtunnel::report
