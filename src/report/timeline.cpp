#include "windtunnel/report/timeline.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace windtunnel::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr double microseconds_per_second = 1e6;

Json complete_event(const std::string& name, const std::string& category, Seconds start, Seconds duration, int stage,
                    int stream) {
    return {{"name", name},
            {"cat", category},
            {"ph", "X"},
            {"ts", start.value() * microseconds_per_second},
            {"dur", duration.value() * microseconds_per_second},
            {"pid", stage},
            {"tid", stream}};
}

Json name_event(const char* what, int stage, int stream, const std::string& name) {
    return {{"name", what}, {"ph", "M"}, {"pid", stage}, {"tid", stream}, {"args", {{"name", name}}}};
}

}  // namespace

std::string trace_event_json(const std::vector<train::TimelineEvent>& events, const std::string& title,
                             const std::vector<train::MemorySample>& memory) {
    Json trace = Json::array();
    std::map<std::string, int> streams;
    std::map<std::pair<int, int>, bool> named;
    for (const train::TimelineEvent& event : events) {
        const int stream = streams.try_emplace(event.stream, static_cast<int>(streams.size())).first->second;
        if (named.try_emplace({event.stage, -1}, true).second)
            trace.push_back(name_event("process_name", event.stage, 0, fmt::format("stage {}", event.stage)));
        if (named.try_emplace({event.stage, stream}, true).second)
            trace.push_back(name_event("thread_name", event.stage, stream, event.stream));
        trace.push_back(complete_event(event.name, event.stream, event.start, event.duration, event.stage, stream));
        Seconds at = event.start;
        for (const auto& [part, duration] : event.parts) {
            if (duration > Seconds{0.0})
                trace.push_back(complete_event(train::to_text(part), "part", at, duration, event.stage, stream));
            at += duration;
        }
    }
    for (const train::MemorySample& sample : memory)
        trace.push_back({{"name", "memory of a card"},
                         {"cat", "memory"},
                         {"ph", "C"},
                         {"ts", sample.at.value() * microseconds_per_second},
                         {"pid", sample.stage},
                         {"args", {{"bytes", sample.held.value()}}}});
    const Json file{{"traceEvents", trace}, {"displayTimeUnit", "ms"}, {"otherData", {{"title", title}}}};
    constexpr int compact = -1;
    return file.dump(compact, ' ', false, Json::error_handler_t::replace);
}

}  // namespace windtunnel::report
