#pragma once
/// Requests as they come: open laws, a closed loop, sessions, shared prompts, or the rows of a trace.
///
/// Model:   renewal processes (Poisson, gamma, Weibull); a Poisson process whose rate jumps between two values (MMPP)
/// or
///          swings over a day; a fixed number in flight; rows of a trace with their own times, repeated as often as
///          needed. A session's next turn comes a think time after the last answer and repeats all that was said.
/// Inputs:  model::ServeLoad, seed, trial.
/// Returns: requests in the order of their arrival, one at a time: memory does not grow with their number.
/// Limits:  turns of one session are geometric; lengths of prompts and answers are independent unless from a trace.
/// Source:  Gamma and Weibull burstiness: vLLM and ServeGen benchmarks; MMPP: Fischer and Meier-Hellstern, 1993;
///          thinning: Lewis and Shedler, 1979.
#include <cstdint>
#include <vector>

#include "windtunnel/base/philox.hpp"
#include "windtunnel/model/serving.hpp"
#include "windtunnel/serve/request.hpp"

namespace windtunnel::serve {

class Load {
public:
    /// `load` (with its trace) must outlive this.
    Load(const model::ServeLoad& load, std::uint64_t seed, std::uint64_t trial);

    /// Arrival of the next request; serve::never: none before another one ends, or none at all.
    [[nodiscard]] std::int64_t next_ns() const noexcept;
    [[nodiscard]] Request take();
    /// A request left the system, with its answer or refused.
    void ended(const Request& request, std::int64_t now_ns);
    [[nodiscard]] std::int64_t total() const noexcept { return load_->num_requests; }

private:
    struct Followup {
        std::int64_t at_ns = 0, number = 0;
        Request request;
        friend bool operator>(const Followup& a, const Followup& b) noexcept {
            return a.at_ns != b.at_ns ? a.at_ns > b.at_ns : a.number > b.number;
        }
    };
    void draw_arrival();
    [[nodiscard]] double mmpp_gap();
    [[nodiscard]] double diurnal_gap();
    void draw_lengths(Request& request);

    const model::ServeLoad* load_;
    base::Draws arrival_draws_, length_draws_, session_draws_, group_draws_, class_draws_;
    double now_s_ = 0.0;
    std::int64_t open_ns_ = 0;  ///< next arrival of the open law
    bool open_ = false;
    std::int64_t arrivals_ = 0;  ///< of the open law or the closed loop so far
    std::int64_t given_ = 0, row_ = 0;
    std::vector<Followup> followups_;  ///< heap by time
    std::int64_t num_followups_ = 0, sessions_ = 0;
    bool bursting_ = false;
    double state_ends_s_ = 0.0;
    double scale_ = 0.0;  ///< of the gap law; trace: stretches its times
    double trace_span_s_ = 0.0;
    double input_shape_ = 1.0, output_shape_ = 1.0;  ///< Weibull shapes of the lengths
    std::vector<double> groups_;                     ///< cumulated popularity
};

/// Shape of a Weibull law with this coefficient of variation. Source: moments of the law, solved by bisection.
[[nodiscard]] double weibull_shape(double variation);
/// One draw of a length law; `shape`: weibull_shape(law.variation), used by Weibull alone.
[[nodiscard]] std::int32_t draw_length(base::Draws& draws, const model::LengthLaw& law, double shape);

}  // namespace windtunnel::serve
