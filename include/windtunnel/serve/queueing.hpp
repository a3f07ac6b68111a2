#pragma once
/// Queueing answers in closed form: what the event loop must agree with where they apply.
///
/// Model:   M/M/c: Poisson arrivals, exponential service, c servers, one queue. M/D/1: equal service times, one server.
/// Inputs:  load = arrival rate x mean service time (erlangs), below c. Returns: probabilities; waits in mean service
///          times. Limits: the long run. Source: Erlang, 1917; Pollaczek and Khinchine; Kleinrock, Queueing Systems 1.
namespace windtunnel::serve {

/// Probability that an arrival finds all c servers busy and no queue is allowed.
[[nodiscard]] double erlang_b(int servers, double load) noexcept;
/// Probability that an arrival must wait.
[[nodiscard]] double erlang_c(int servers, double load) noexcept;
/// Mean wait in the queue over the mean service time.
[[nodiscard]] double mmc_wait(int servers, double load) noexcept;
[[nodiscard]] double md1_wait(double load) noexcept;

}  // namespace windtunnel::serve
