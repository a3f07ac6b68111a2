#pragma once
/// Every result table: one description for writer, reader, tests and the page docs/results.md.
#include <string>
#include <vector>

#include "windtunnel/store/table.hpp"

namespace windtunnel::study {

[[nodiscard]] store::TableSchema search_best_schema();
[[nodiscard]] store::TableSchema search_pareto_schema();
[[nodiscard]] store::TableSchema search_verdicts_schema();
[[nodiscard]] store::TableSchema search_margin_check_schema();
[[nodiscard]] store::TableSchema search_designs_schema();  ///< bulk, with --store all

[[nodiscard]] store::TableSchema train_summary_schema();
[[nodiscard]] store::TableSchema train_parts_schema();
[[nodiscard]] store::TableSchema train_memory_schema();
[[nodiscard]] store::TableSchema train_timeline_schema();

/// `group`: "avail" or "rehearsal". `variants`: names of the failure variants, enum of the column `variant`.
[[nodiscard]] store::TableSchema trials_summary_schema(const std::string& group,
                                                       const std::vector<std::string>& variants);
[[nodiscard]] store::TableSchema trials_quantiles_schema(const std::string& group,
                                                         const std::vector<std::string>& variants);
[[nodiscard]] store::TableSchema trials_causes_schema(const std::string& group,
                                                      const std::vector<std::string>& variants);
[[nodiscard]] store::TableSchema trials_phases_schema(const std::string& group,
                                                      const std::vector<std::string>& variants);
[[nodiscard]] store::TableSchema trials_job_schema(const std::string& group, const std::vector<std::string>& variants);
[[nodiscard]] store::TableSchema trials_sensitivity_schema(const std::string& group,
                                                           const std::vector<std::string>& variants);

[[nodiscard]] store::TableSchema time_to_tokens_schema(const std::vector<std::string>& variants);

[[nodiscard]] store::TableSchema sampled_measures_schema();  ///< of chain files
[[nodiscard]] store::TableSchema serve_summary_schema();
[[nodiscard]] store::TableSchema serve_latency_schema();
[[nodiscard]] store::TableSchema serve_measures_schema();

[[nodiscard]] store::TableSchema validate_rows_schema();
[[nodiscard]] store::TableSchema validate_families_schema();
[[nodiscard]] store::TableSchema validate_figures_schema();

[[nodiscard]] store::TableSchema calibrate_sets_schema();
[[nodiscard]] store::TableSchema calibrate_parameters_schema();
[[nodiscard]] store::TableSchema calibrate_residuals_schema();
[[nodiscard]] store::TableSchema calibrate_versions_schema();
[[nodiscard]] store::TableSchema calibrate_left_out_schema();

/// All of them, for the page.
[[nodiscard]] std::vector<store::TableSchema> all_schemas();

}  // namespace windtunnel::study
