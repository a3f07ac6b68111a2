#pragma once
/// The timeline of a step as Trace Event JSON, for Perfetto: a process per pipeline stage, a thread per stream.
#include <string>
#include <vector>

#include "windtunnel/train/step.hpp"

namespace windtunnel::report {

/// Complete events ("ph": "X") in microseconds; the parts of an event lie nested in it. Memory as counters ("ph": "C"),
/// bytes of a card of each stage.
/// Format: Trace Event Format, Google, 2016 (JSON object form).
[[nodiscard]] std::string trace_event_json(const std::vector<train::TimelineEvent>& events, const std::string& title,
                                           const std::vector<train::MemorySample>& memory = {});

}  // namespace windtunnel::report
