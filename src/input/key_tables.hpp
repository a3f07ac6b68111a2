#pragma once
/// The parts of the key table, one per kind of file; put together in keys.cpp.
#include <string_view>

#include "windtunnel/input/keys.hpp"

namespace windtunnel::input {

inline constexpr double most_cards = 10'000'000.0;
inline constexpr double most_seconds = 3.2e12;  // 100,000 years
inline constexpr double most_count = 9.0e15;    // below 2^53: whole numbers stay whole as double

[[nodiscard]] std::vector<Key> accelerator_keys();
[[nodiscard]] std::vector<Key> cluster_keys();
[[nodiscard]] std::vector<Key> serve_keys();  ///< of a plan
[[nodiscard]] std::vector<Key> model_keys();
[[nodiscard]] std::vector<Key> failures_keys();
[[nodiscard]] std::vector<Key> calibration_keys();
[[nodiscard]] std::vector<Key> engine_keys();
[[nodiscard]] std::vector<Key> plan_keys();
[[nodiscard]] std::vector<Key> chain_keys();
[[nodiscard]] std::vector<Key> machine_keys();
/// Sub-tables of [train] that hold for every layout of a plan (model/training_methods.hpp), part of the plan's keys.
[[nodiscard]] std::vector<Key> method_keys();
/// Is the path a key of one of them?
[[nodiscard]] bool is_method(std::string_view path);

}  // namespace windtunnel::input
