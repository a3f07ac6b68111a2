#pragma once
/// Trials of a job under failures: `avail` and `rehearse`. Every estimate with its interval; a band where failures are
/// given as variants.
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "windtunnel/avail/exact.hpp"
#include "windtunnel/avail/history.hpp"
#include "windtunnel/model/plan.hpp"
#include "windtunnel/study/avail_study.hpp"
#include "windtunnel/study/rehearse_study.hpp"

namespace windtunnel::report {

[[nodiscard]] std::string avail_text(const model::Plan& plan, const study::AvailAnswer& answer);
[[nodiscard]] std::string avail_json(const model::Plan& plan, const study::AvailAnswer& answer);

[[nodiscard]] std::string rehearse_text(const model::Plan& plan, const study::RehearseAnswer& answer, std::size_t top);
[[nodiscard]] std::string rehearse_json(const model::Plan& plan, const study::RehearseAnswer& answer, std::size_t top);

/// The exact answers of `avail --exact`, one for each variant.
struct ExactVariant {
    std::string name;
    avail::ExactOrReason exact;
};
[[nodiscard]] std::string exact_text(const model::Plan& plan, const study::TrainPoint& layout,
                                     const std::vector<ExactVariant>& variants);
[[nodiscard]] std::string exact_json(const model::Plan& plan, const std::vector<ExactVariant>& variants);

/// One history of `rehearse --trial K`, one for each variant.
struct PrintedHistory {
    std::string name;
    avail::History history;
    std::vector<avail::HistoryEvent> events;
};
[[nodiscard]] std::string histories_text(const std::vector<PrintedHistory>& histories, std::int64_t trial);
[[nodiscard]] std::string histories_json(const std::vector<PrintedHistory>& histories, std::int64_t trial);

}  // namespace windtunnel::report
