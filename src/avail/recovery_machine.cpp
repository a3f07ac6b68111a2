#include "windtunnel/avail/recovery_machine.hpp"

#include "windtunnel/avail/quadrature.hpp"
#include "windtunnel/avail/stationary.hpp"
#include "windtunnel/avail/time_law.hpp"

namespace windtunnel::avail {
namespace {

model::TimeLaw in_seconds(const model::Law& law) {
    using enum model::TimeLawKind;
    model::TimeLaw result;
    result.shape = law.shape;
    result.scale = law.scale.value();
    switch (law.kind) {
        case model::LawKind::exponential:
            result.kind = exponential;
            break;
        case model::LawKind::weibull:
            result.kind = weibull;
            break;
        case model::LawKind::lognormal:
            result.kind = lognormal;
            break;
        case model::LawKind::gamma:
            result.kind = gamma;
            break;
        case model::LawKind::deterministic:
            result.kind = deterministic;
            break;
    }
    return result;
}

/// Probability of each row of a state, with what the limit turns into errors.
std::vector<double> outcomes(const model::RecoveryMachine& machine, std::size_t state) {
    std::vector<double> share(machine.transitions.size(), 0.0);
    const auto error = machine.row(state, "error");
    const double within = error ? truncated(machine.states[state].time, machine.states[state].limit).within : 1.0;
    for (std::size_t i = 0; i < share.size(); ++i)
        if (machine.transitions[i].from == state) share[i] = within * machine.transitions[i].probability;
    if (error) share[*error] += 1.0 - within;
    return share;
}

}  // namespace

std::vector<bool> reachable(const model::RecoveryMachine& machine, std::size_t from) {
    std::vector<bool> seen(machine.states.size(), false);
    std::vector<std::size_t> open{from};
    seen[from] = true;
    while (!open.empty()) {
        const std::size_t state = open.back();
        open.pop_back();
        for (const model::RecoveryTransition& row : machine.transitions)
            if (row.from == state && !seen[row.to]) {
                seen[row.to] = true;
                open.push_back(row.to);
            }
    }
    return seen;
}

Truncated truncated(const model::Law& law, std::optional<Seconds> limit) {
    if (!limit) return {model::mean(law), 1.0};
    const model::TimeLaw time = in_seconds(law);
    if (time.kind == model::TimeLawKind::deterministic)
        return {std::min(law.scale, *limit), law.scale <= *limit ? 1.0 : 0.0};
    const double mean = integral([&](double t) { return survival(time, t); }, 0.0, limit->value());
    return {Seconds{mean}, distribution(time, limit->value())};
}

MachineVisits machine_visits(const model::RecoveryMachine& machine, std::size_t from) {
    const std::size_t n = machine.states.size();
    MachineVisits result;
    if (from == machine.final) return result;
    result.visits.assign(n, 0.0);
    result.time.assign(n, Seconds{0.0});
    result.events.assign(machine.transitions.size(), 0.0);
    std::vector<std::vector<double>> rows(n);
    for (std::size_t state = 0; state < n; ++state)
        if (state != machine.final) rows[state] = outcomes(machine, state);
    // States that are entered with a probability above 0, in the order of discovery.
    std::vector<std::size_t> order{from}, index(n, n);
    index[from] = 0;
    for (std::size_t i = 0; i < order.size(); ++i)
        for (std::size_t t = 0; t < rows[order[i]].size(); ++t) {
            const std::size_t to = machine.transitions[t].to;
            if (rows[order[i]][t] <= 0.0 || index[to] != n) continue;
            index[to] = order.size();
            order.push_back(to);
        }
    result.ends = index[machine.final] != n;
    if (!result.ends) return result;
    SparseChain chain;
    for (const std::size_t state : order) {
        std::vector<std::uint32_t> targets;
        std::vector<double> rates;
        if (state == machine.final) {
            targets.push_back(0);
            rates.push_back(1.0);
        } else {
            for (std::size_t t = 0; t < rows[state].size(); ++t) {
                if (rows[state][t] <= 0.0) continue;
                targets.push_back(static_cast<std::uint32_t>(index[machine.transitions[t].to]));
                rates.push_back(rows[state][t]);
            }
        }
        chain.add_state(targets, rates);
    }
    const Classes classes = closed_classes(chain);
    result.ends = classes.num_closed == 1 && classes.sizes[0] == order.size();
    if (!result.ends) return result;
    const Stationary found = long_run(chain, classes);
    // Loops are entries too: a state is entered with rate `share` in a chain of rates that sum to 1.
    const double cycles = found.share[index[machine.final]];
    for (std::size_t i = 0; i < order.size(); ++i) {
        const std::size_t state = order[i];
        result.visits[state] = found.share[i] / cycles;
        if (state == machine.final) continue;
        result.time[state] =
            result.visits[state] * truncated(machine.states[state].time, machine.states[state].limit).mean;
        result.total += result.time[state];
        for (std::size_t t = 0; t < rows[state].size(); ++t) result.events[t] += result.visits[state] * rows[state][t];
    }
    return result;
}

std::vector<std::uint64_t> walk_machine(const model::RecoveryMachine& machine, std::size_t from, base::Draws& draws,
                                        std::uint64_t most_steps) {
    std::vector<std::uint64_t> entries(machine.states.size(), 0);
    std::size_t state = from;
    ++entries[state];
    for (std::uint64_t step = 0; step < most_steps && state != machine.final; ++step) {
        const std::vector<double> share = outcomes(machine, state);
        double left = draws.uniform();
        std::size_t last = machine.transitions.size();
        for (std::size_t t = 0; t < share.size(); ++t) {
            if (share[t] <= 0.0) continue;
            last = t;
            if (left < share[t]) break;
            left -= share[t];
        }
        if (last == machine.transitions.size()) break;
        state = machine.transitions[last].to;
        ++entries[state];
    }
    return entries;
}

Seconds ladder_time(const std::vector<double>& success, const std::vector<Seconds>& mean_time) {
    Seconds sum;
    double tried = 1.0;
    for (std::size_t i = 0; i < success.size(); ++i) {
        sum += tried * mean_time[i];
        tried *= 1.0 - success[i];
    }
    return sum;
}

}  // namespace windtunnel::avail
