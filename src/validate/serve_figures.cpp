#include "windtunnel/validate/serve_figures.hpp"

#include <algorithm>
#include <cmath>

namespace windtunnel::validate {
namespace {

/// Lines whose family begins so, of one quantity (empty: every one that has an error).
struct Group {
    const char* name;
    std::vector<std::string> families;
    const char* quantity;
    std::vector<const char*> measures;
};

const std::vector<Group>& groups() {
    static const std::vector<Group> all{
        {"one pool, rows not fitted", {"e2e_silicon/one_pool"}, "tpot_s", {"median", "P90"}},
        {"one pool, rows not fitted", {"e2e_silicon/one_pool"}, "ttft_s", {"median", "P90"}},
        {"one pool, rows not fitted, vLLM", {"e2e_silicon/one_pool/vllm"}, "tpot_s", {"median"}},
        {"one pool, rows not fitted, SGLang", {"e2e_silicon/one_pool/sglang"}, "tpot_s", {"median"}},
        {"one pool, rows not fitted, TensorRT-LLM", {"e2e_silicon/one_pool/trtllm"}, "tpot_s", {"median"}},
        {"one pool, rows fitted", {"e2e_silicon/fitted"}, "tpot_s", {"median"}},
        {"one pool, unseen models", {"e2e_silicon/unseen_models"}, "tpot_s", {"median", "P90"}},
        {"one pool, unseen models", {"e2e_silicon/unseen_models"}, "ttft_s", {"median"}},
        {"one pool, unseen models, vLLM", {"e2e_silicon/unseen_models/vllm"}, "tpot_s", {"median"}},
        {"one pool, unseen models, vLLM", {"e2e_silicon/unseen_models/vllm"}, "ttft_s", {"median"}},
        {"prefill/decode split", {"e2e_silicon/split"}, "tpot_s", {"median", "P90"}},
        {"prefill/decode split", {"e2e_silicon/split"}, "ttft_s", {"median"}},
        {"set aside: one concurrency does not describe them", {"e2e_silicon/set_aside"}, "tpot_s", {"median"}},
        {"TensorRT-LLM v1, rows not fitted", {"e2e_trtllm_v1"}, "tokens_per_s", {"median", "P90"}},
        {"TensorRT-LLM v1, unseen models", {"e2e_trtllm_v1/unseen_models"}, "tokens_per_s", {"median"}},
        {"Argonne, rows not fitted", {"e2e_argonne"}, "latency_s", {"median", "P90"}},
        {"Argonne, unseen models", {"e2e_argonne/unseen_models"}, "latency_s", {"median"}},
        {"Ascend steps, all fitted", {"ascend_steps"}, "step_time_s", {"mean", "worst"}},
        {"Ascend steps, one left out", {"ascend-step/leave_one_out"}, "step_time_s", {"mean"}},
        {"CloudMatrix384, all fitted", {"points/Ascend-910C"}, "tokens_per_s_per_chip", {"mean"}},
        {"CloudMatrix384, one left out", {"cloudmatrix/leave_one_out"}, "tokens_per_s_per_chip", {"mean"}},
        {"H100 and H800 DeepSeek, all fitted",
         {"points/H100-80GB-SXM", "points/H800"},
         "tokens_per_s_per_chip",
         {"mean"}},
        {"H100 and H800 DeepSeek, one left out", {"deepseek-hopper/leave_one_out"}, "tokens_per_s_per_chip", {"mean"}},
        {"H20, nothing fitted", {"points/H20"}, "tokens_per_s_per_chip", {"mean"}},
    };
    return all;
}

/// A family itself or what lies below it, without what stands apart there.
bool belongs(const std::string& family, const std::string& group) {
    if (family == group) return true;
    if (!family.starts_with(group + "/")) return false;
    const std::string below = family.substr(group.size() + 1);
    return !below.starts_with("fitted") && !below.starts_with("unseen") && !below.starts_with("set_aside") &&
           !below.starts_with("leave_one_out");
}

std::optional<double> measure_of(const ErrorSummary& summary, const std::string& measure) {
    if (summary.count == 0) return std::nullopt;
    return measure == "median"  ? summary.median
           : measure == "P90"   ? summary.percentile_90
           : measure == "worst" ? summary.worst
                                : summary.mean;
}

/// Rows that have an interval and were not fitted: share inside, and half-width over the mean error.
void add_intervals(std::span<const RowResult> results, std::vector<Figure>& figures) {
    int inside = 0, count = 0;
    std::vector<double> widths, errors;
    for (const RowResult& line : results) {
        if (!line.low || !line.high || !line.measured || line.used_to_fit) continue;
        if (line.family.find("set_aside") != std::string::npos || line.family.find("quoted") != std::string::npos ||
            line.family.find("unseen") != std::string::npos || line.family.find("leave_one_out") != std::string::npos ||
            line.family.find("split") != std::string::npos)
            continue;
        ++count;
        inside += *line.measured >= *line.low && *line.measured <= *line.high ? 1 : 0;
        widths.push_back(0.5 * (*line.high - *line.low) / *line.predicted);
        errors.push_back(std::abs(*line.relative_error()));
    }
    if (count == 0) return;
    const double share = static_cast<double>(inside) / count;
    figures.push_back({"intervals", "90 % interval, rows not fitted", "share inside", share, count, {}, {}});
    figures.push_back(
        {"intervals", "90 % interval, rows not fitted", "share inside, upper bound", share, count, {}, {}});
    figures.push_back({"intervals",
                       "90 % interval, rows not fitted",
                       "half-width to mean error",
                       error_summary(widths).median / error_summary(errors).mean,
                       count,
                       {},
                       {}});
}

}  // namespace

std::vector<Figure> serve_figures(std::span<const RowResult> results, const model::ServeMeasurements& measurements) {
    std::vector<Figure> figures;
    for (const Group& group : groups()) {
        std::vector<double> errors;
        for (const RowResult& line : results) {
            if (line.quantity != group.quantity || !line.relative_error()) continue;
            if (std::any_of(group.families.begin(), group.families.end(),
                            [&](const std::string& family) { return belongs(line.family, family); }))
                errors.push_back(std::abs(*line.relative_error()));
        }
        const ErrorSummary summary = error_summary(errors);
        if (summary.count == 0) continue;
        for (const char* measure : group.measures)
            figures.push_back(
                {group.quantity, group.name, measure, measure_of(summary, measure), summary.count, {}, {}});
    }
    int signs = 0, right = 0;
    for (const RowResult& line : results)
        if (line.quantity == "overlap_sign" && line.predicted) {
            ++signs;
            right += *line.predicted == *line.measured ? 1 : 0;
        }
    if (signs > 0)
        figures.push_back({"overlap",
                           "two micro-batches, sign of the gain",
                           "right",
                           static_cast<double>(right) / signs,
                           signs,
                           {},
                           {}});
    add_intervals(results, figures);
    for (Figure& figure : figures)
        for (const model::FigureLimit& limit : measurements.figure_limits)
            if (limit.table == figure.table && limit.name == figure.name && limit.measure == figure.measure) {
                figure.target = limit.target;
                figure.limit = limit.limit;
                figure.at_least = limit.at_least;
            }
    return figures;
}

}  // namespace windtunnel::validate
