#pragma once
/// The workstation cluster of Haverkort, Hermanns, Katoen, SRDS 2000, as a chain.
#include <span>

#include "windtunnel/model/chain.hpp"

namespace windtunnel::avail {

/// Two groups of n workstations, a switch each, a backbone, one repair unit that inspects at rate 10 (per hour).
inline model::Chain cluster(int n) {
    struct Kind {
        double fail, repair;
        int number;
    };
    const Kind kinds[] = {{0.002, 2, n}, {0.002, 2, n}, {0.00025, 0.25, 1}, {0.00025, 0.25, 1}, {0.0002, 0.125, 1}};
    constexpr std::size_t busy = 5;
    model::Chain chain;
    for (const Kind& kind : kinds) chain.variables.push_back({"up", 0, kind.number, kind.number});
    chain.variables.push_back({"busy", 0, 5, 0});
    for (std::size_t i = 0; i < 5; ++i) {
        const Kind kind = kinds[i];
        const double own = static_cast<double>(i + 1);
        model::ChainTransition fail, inspect, mend;
        fail.rate = [=](std::span<const double> s) { return s[i] * kind.fail; };
        fail.updates = {{i, [=](std::span<const double> s) { return s[i] - 1; }, {}}};
        inspect.rate = [=](std::span<const double> s) { return s[busy] == 0 && s[i] < kind.number ? 10.0 : 0.0; };
        inspect.updates = {{busy, [=](std::span<const double>) { return own; }, {}}};
        mend.rate = [=](std::span<const double> s) { return s[busy] == own ? kind.repair : 0.0; };
        mend.updates = {{busy, [](std::span<const double>) { return 0.0; }, {}},
                        {i, [=](std::span<const double> s) { return s[i] + 1; }, {}}};
        chain.transitions.insert(chain.transitions.end(), {fail, inspect, mend});
    }
    return chain;
}

}  // namespace windtunnel::avail
