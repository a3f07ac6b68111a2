#pragma once
/// How far a run is: a bar on a terminal, plain lines with an ETA in a file. Rank 0 only.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

namespace windtunnel::driver {

/// A state of a run, for the text of a line.
struct ProgressState {
    std::string label;
    std::uint64_t total = 0;    ///< blocks of the round
    std::uint64_t resumed = 0;  ///< of them, done before this start
    std::uint64_t done = 0;     ///< of them, done since, so resumed + done are there
    double elapsed_s = 0.0;     ///< since the round was started here
};

/// "search: closed form: 120 of 500 blocks (24.0 %), 12 s, ETA 38 s". The ETA is the time of the blocks of this round
/// that are left at the mean rate since the start; resumed blocks do not count into the rate.
[[nodiscard]] std::string progress_line(const ProgressState& state);
/// 3725 gives "1 h 02 min".
[[nodiscard]] std::string duration_text(double seconds);

enum class ProgressStyle {
    none,
    lines,  ///< the first after a second (or at the end of a shorter run), then one each 10 s; no control characters
    bar     ///< redrawn in place
};
/// Bar on a terminal, else lines; none when `wanted` is false.
[[nodiscard]] ProgressStyle progress_style(bool wanted, std::FILE* stream);

/// A thread of its own writes, so lines also come while a block takes long.
class Progress {
public:
    Progress(ProgressStyle style, std::FILE* stream);
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress();  ///< the last state, unless a line was written less than 10 s ago

    void start_round(std::string label, std::uint64_t total, std::uint64_t resumed);
    void advance();
    /// A line of its own, above the bar.
    void say(const std::string& text);

private:
    void loop();
    void draw();   ///< mutex_ is held
    void clear();  ///< mutex_ is held

    ProgressStyle style_;
    std::FILE* stream_;
    bool colour_ = false;
    bool drawn_ = false;
    bool over_ = false;
    std::size_t width_ = 0;
    int lines_ = 0;
    std::chrono::steady_clock::time_point last_line_;
    ProgressState state_;
    std::chrono::steady_clock::time_point round_start_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::thread thread_;
};

}  // namespace windtunnel::driver
