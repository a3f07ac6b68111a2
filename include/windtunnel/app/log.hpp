#pragma once
/// What goes to stderr, from rank 0 only: errors, warnings, notes. Data never passes here.
#include <ostream>
#include <string>
#include <string_view>

namespace windtunnel::app {

enum class LogLevel { error, warning, info, debug };

class Log {
public:
    Log(std::ostream& stream, LogLevel level) : stream_{&stream}, level_{level} {}
    void set_level(LogLevel level) noexcept { level_ = level; }
    [[nodiscard]] LogLevel level() const noexcept { return level_; }
    void warning(std::string_view text) { write(LogLevel::warning, "warning: ", text); }
    void info(std::string_view text) { write(LogLevel::info, "", text); }
    void debug(std::string_view text) { write(LogLevel::debug, "debug: ", text); }

private:
    void write(LogLevel level, std::string_view head, std::string_view text) {
        if (level <= level_) *stream_ << head << text << std::endl;
    }
    std::ostream* stream_;
    LogLevel level_;
};

}  // namespace windtunnel::app
