#include "windtunnel/driver/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace windtunnel::driver {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto first_line_after = std::chrono::seconds{1};
constexpr auto line_every = std::chrono::seconds{10};
constexpr auto redraw_every = std::chrono::milliseconds{200};

bool set(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
}

}  // namespace

std::string duration_text(double seconds) {
    if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
    const auto whole = static_cast<long long>(std::min(seconds, 1e15) + 0.5);
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
    if (whole < 86400) return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
    return fmt::format("{} d {:02} h", whole / 86400, whole % 86400 / 3600);
}

std::string progress_line(const ProgressState& state) {
    const std::uint64_t there = state.resumed + state.done;
    const double percent =
        state.total == 0 ? 100.0 : 100.0 * static_cast<double>(there) / static_cast<double>(state.total);
    std::string eta = "unknown";
    if (there >= state.total)
        eta = duration_text(0.0);
    else if (state.done > 0)
        eta =
            duration_text(state.elapsed_s * static_cast<double>(state.total - there) / static_cast<double>(state.done));
    return fmt::format("{}: {} of {} blocks ({:.1f} %), {}, ETA {}", state.label, there, state.total, percent,
                       duration_text(state.elapsed_s), eta);
}

ProgressStyle progress_style(bool wanted, std::FILE* stream) {
    if (!wanted) return ProgressStyle::none;
    const char* terminal = std::getenv("TERM");
    const bool dumb = terminal != nullptr && std::string_view{terminal} == "dumb";
    return ::isatty(::fileno(stream)) == 1 && !dumb ? ProgressStyle::bar : ProgressStyle::lines;
}

Progress::Progress(ProgressStyle style, std::FILE* stream)
    : style_{style}, stream_{stream}, colour_{!set("NO_COLOR")}, round_start_{Clock::now()} {
    if (style_ != ProgressStyle::none) thread_ = std::thread{[this] { loop(); }};
}

Progress::~Progress() {
    {
        const std::lock_guard guard{mutex_};
        over_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
    if (style_ == ProgressStyle::none || state_.label.empty()) return;
    const bool just_said = lines_ > 0 && Clock::now() - last_line_ < line_every;
    if (style_ == ProgressStyle::lines && just_said) return;
    draw();
    if (style_ == ProgressStyle::bar) std::fputc('\n', stream_);
    std::fflush(stream_);
}

void Progress::start_round(std::string label, std::uint64_t total, std::uint64_t resumed) {
    const std::lock_guard guard{mutex_};
    state_ = {std::move(label), total, resumed, 0, 0.0};
    round_start_ = Clock::now();
}

void Progress::advance() {
    const std::lock_guard guard{mutex_};
    ++state_.done;
}

void Progress::say(const std::string& text) {
    const std::lock_guard guard{mutex_};
    clear();
    std::fprintf(stream_, "%s\n", text.c_str());
    std::fflush(stream_);
}

void Progress::loop() {
    std::unique_lock guard{mutex_};
    auto next = Clock::now() + (style_ == ProgressStyle::bar ? Clock::duration{redraw_every} : first_line_after);
    while (!wake_.wait_until(guard, next, [this] { return over_; })) {
        if (!state_.label.empty()) draw();
        next = Clock::now() + (style_ == ProgressStyle::bar ? Clock::duration{redraw_every} : line_every);
    }
}

void Progress::clear() {
    if (!drawn_) return;
    std::fprintf(stream_, "\r%s\r", std::string(width_, ' ').c_str());
    drawn_ = false;
}

void Progress::draw() {
    state_.elapsed_s = std::chrono::duration<double>(Clock::now() - round_start_).count();
    const std::string line = progress_line(state_);
    if (style_ == ProgressStyle::lines) {
        std::fprintf(stream_, "windtunnel: %s\n", line.c_str());
        ++lines_;
        last_line_ = Clock::now();
    } else {
        clear();
        constexpr std::uint64_t cells = 20;
        const std::uint64_t full =
            state_.total == 0 ? cells : std::min(cells, (state_.resumed + state_.done) * cells / state_.total);
        const std::string bar = std::string(full, '#') + std::string(cells - full, '.');
        std::fprintf(stream_, "[%s%s%s] %s", colour_ ? "\x1b[32m" : "", bar.c_str(), colour_ ? "\x1b[0m" : "",
                     line.c_str());
        width_ = cells + 3 + line.size();
        drawn_ = true;
    }
    std::fflush(stream_);
}

}  // namespace windtunnel::driver
