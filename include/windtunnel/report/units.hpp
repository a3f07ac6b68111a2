#pragma once
/// Numbers for people: four significant digits, the unit always printed, 1 GB = 1e9 B and 1 GiB = 2^30 B never mixed.
#include <cstdint>
#include <string>

#include "windtunnel/base/quantity.hpp"

namespace windtunnel::report {

[[nodiscard]] std::string human(Seconds time);           ///< 12.31 s, 4.2 ms, 51.3 d
[[nodiscard]] std::string human(Bytes size);             ///< binary: 54.81 GiB
[[nodiscard]] std::string human(BytesPerSecond rate);    ///< decimal: 2.7 GB/s
[[nodiscard]] std::string human(FlopsPerSecond rate);    ///< 353.9 TFLOP/s
[[nodiscard]] std::string human(Usd money);              ///< 1.2 M USD
[[nodiscard]] std::string human(Joules energy);          ///< 1.2 GWh
[[nodiscard]] std::string human_count(double count);     ///< 6,144 or 13.2 T
[[nodiscard]] std::string percent(double fraction);      ///< 38.41 %
[[nodiscard]] std::string grouped(std::int64_t number);  ///< 15,360

/// `mean +- half_width unit` for a value with its standard error: 95 % interval, 1.96 standard errors.
inline constexpr double normal_quantile_95 = 1.959964;

}  // namespace windtunnel::report
