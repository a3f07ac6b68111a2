#include "windtunnel/serve/load.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "serve_examples.hpp"
#include "windtunnel/base/moments.hpp"
#include "windtunnel/base/variates.hpp"
#include "windtunnel/serve/moment.hpp"
#include "windtunnel/serve/trace_fit.hpp"

namespace windtunnel::serve {
namespace {

using namespace examples;
constexpr std::int64_t many = 20000;

struct Seen {
    base::Moments gaps, input, output;
    double last_s = 0.0;
};

Seen seen(model::ServeLoad load) {
    Seen all;
    Load source{load, 3, 0};
    double before = 0.0;
    while (source.next_ns() != never) {
        const Request request = source.take();
        all.last_s = seconds_of(request.arrival_ns);
        all.gaps.add(all.last_s - before);
        before = all.last_s;
        all.input.add(request.input);
        all.output.add(request.output);
    }
    return all;
}

TEST(Load, CutsWholeRequestsForTheWarmUpAndNoneOfASingleOne) {
    const model::LengthLaw ten{model::LengthKind::fixed, 10.0};
    for (const auto& [requests, cut] : {std::pair{1, 0}, {19, 0}, {20, 1}, {100, 5}}) {  // 5 %, rounded down
        model::ServeLoad load = poisson(5.0, requests, ten, ten);
        load.warm_up = 0.05;
        Load source{load, 3, 0};
        int left_out = 0;
        while (source.next_ns() != never) left_out += source.take().counted ? 0 : 1;
        EXPECT_EQ(left_out, cut) << requests;
    }
}

/// Gaps of every open law have the mean that the rate says; their variation is that of the law: gamma of shape 0.25 has
/// 1 / sqrt(0.25) = 2, Weibull of shape 0.5 has sqrt(5).
TEST(Load, OpenLawsKeepTheirRate) {
    using Kind = model::ArrivalKind;
    const model::LengthLaw ten{model::LengthKind::fixed, 10.0};
    model::ServeLoad load = poisson(5.0, many, ten, ten);
    for (const auto& [kind, burstiness, variation] :
         {std::tuple{Kind::poisson, 1.0, 1.0}, {Kind::gamma, 0.25, 2.0}, {Kind::weibull, 0.5, std::sqrt(5.0)}}) {
        load.arrivals = kind;
        load.burstiness = burstiness;
        const Seen all = seen(load);
        EXPECT_EQ(all.gaps.count, static_cast<std::uint64_t>(many));
        EXPECT_NEAR(all.gaps.mean, 0.2, 4.0 * all.gaps.standard_error());
        EXPECT_NEAR(all.gaps.standard_deviation() / all.gaps.mean, variation, 0.08 * variation);
    }
    load.arrivals = Kind::diurnal;
    load.day_period = Seconds{100.0};
    EXPECT_NEAR(seen(load).gaps.mean, 0.2, 0.005);
    load.arrivals = Kind::mmpp;
    load.burst_length = Seconds{2.0};
    const Seen bursts = seen(load);
    EXPECT_NEAR(bursts.gaps.mean, 0.2, 0.01);
    EXPECT_GT(bursts.gaps.standard_deviation() / bursts.gaps.mean, 1.1);
}

TEST(Load, LengthLawsKeepTheirMeanAndVariation) {
    for (const auto kind : {model::LengthKind::lognormal, model::LengthKind::gamma, model::LengthKind::weibull}) {
        const Seen all = seen(poisson(5.0, many, {kind, 800.0, 0.7}, {kind, 200.0, 0.5}));
        EXPECT_NEAR(all.input.mean, 800.0, 5.0 * all.input.standard_error());
        EXPECT_NEAR(all.input.standard_deviation() / all.input.mean, 0.7, 0.03);
        EXPECT_NEAR(all.output.standard_deviation() / all.output.mean, 0.5, 0.03);
    }
    model::LengthLaw even{model::LengthKind::uniform, 0.0, 1.0, 3, 7};
    const Seen all = seen(poisson(5.0, many, even, even));
    EXPECT_EQ(all.input.minimum, 3.0);
    EXPECT_EQ(all.input.maximum, 7.0);
    EXPECT_NEAR(all.input.mean, 5.0, 0.03);
}

/// Three rows over 2 s: their natural span is 3 s (one mean gap behind the last), so row 4 comes at 3 s; at a rate of 2
/// per second all times are halved.
TEST(Load, ATraceIsRepeatedAndStretched) {
    model::ServeLoad load = replay({{0.0, 5, 1, 0, 0}, {0.5, 6, 2, 0, 0}, {2.0, 7, 3, 0, 0}});
    load.num_requests = 5;
    std::vector<double> times;
    Load source{load, 1, 0};
    while (source.next_ns() != never) times.push_back(seconds_of(source.take().arrival_ns));
    EXPECT_EQ(times, (std::vector<double>{0.0, 0.5, 2.0, 3.0, 3.5}));
    load.request_rate = 2.0;
    times.clear();
    Load faster{load, 1, 0};
    while (faster.next_ns() != never) times.push_back(seconds_of(faster.take().arrival_ns));
    EXPECT_EQ(times, (std::vector<double>{0.0, 0.25, 1.0, 1.5, 1.75}));
}

TEST(Load, AClosedLoopSendsTheNextWhenOneEnds) {
    model::ServeLoad load = poisson(0.0, 4, {model::LengthKind::fixed, 10.0}, {model::LengthKind::fixed, 5.0});
    load.arrivals = model::ArrivalKind::closed_loop;
    load.concurrency = 2;
    Load source{load, 1, 0};
    const Request first = source.take();
    (void)source.take();
    EXPECT_EQ(source.next_ns(), never);
    source.ended(first, 700);
    EXPECT_EQ(source.next_ns(), 700);
    EXPECT_EQ(source.take().number, 2);
}

/// A turn repeats prompt and answer of the one before: 10 + 5, then 10 more.
TEST(Load, ASessionRepeatsWhatWasSaid) {
    model::ServeLoad load = poisson(1.0, 50, {model::LengthKind::fixed, 10.0}, {model::LengthKind::fixed, 5.0});
    load.turns = 1000.0;
    load.think_time = {model::LawKind::deterministic, 1.0, Seconds{2.0}};
    Load source{load, 1, 0};
    const Request first = source.take();
    source.ended(first, first.arrival_ns + 1000);
    Request next = source.take();
    while (next.content.session != first.content.session) next = source.take();
    EXPECT_EQ(next.input, 25);
    EXPECT_EQ(next.arrival_ns, first.arrival_ns + 1000 + 2'000'000'000);
}

/// Laws come back from their own samples, and the distance says which it was.
TEST(TraceFit, FindsTheLawsOfASample) {
    TraceStatistics statistics;
    base::Draws draws{{4, 4, 4}};
    double at_s = 0.0;
    for (int i = 0; i < 20000; ++i) {
        at_s += base::gamma(draws, 0.4, 1.0);
        const double input = base::lognormal(draws, 0.8, 900.0), output = base::weibull(draws, 1.6, 250.0);
        statistics.add({at_s, static_cast<std::int32_t>(input) + 1, static_cast<std::int32_t>(output) + 1, 0, 0});
    }
    const TraceFit fit = statistics.fit();
    EXPECT_EQ(fit.rows, 20000);
    ASSERT_FALSE(fit.arrivals.empty());
    EXPECT_EQ(fit.arrivals[0].law, "gamma");
    EXPECT_NEAR(fit.arrivals[0].shape, 0.4, 0.03);
    EXPECT_EQ(fit.inputs[0].law, "lognormal");
    EXPECT_LT(fit.inputs[0].distance, fit.critical);
    EXPECT_NEAR(fit.inputs[0].mean, 900.0 * std::exp(0.32), 30.0);
    EXPECT_EQ(fit.outputs[0].law, "weibull");
    EXPECT_NEAR(fit.outputs[0].shape, 1.6, 0.06);
    EXPECT_GT(fit.outputs[1].distance, 2.0 * fit.outputs[0].distance);
    EXPECT_NEAR(fit.correlation(), 0.0, 0.03);
}

TEST(TraceFit, TakesOneRowAndEqualRows) {
    TraceStatistics statistics;
    EXPECT_EQ(statistics.fit().rows, 0);
    statistics.add({0.0, 7, 3, 0, 0});
    EXPECT_TRUE(statistics.fit().arrivals.empty());
    EXPECT_EQ(statistics.fit().inputs[0].law, "fixed");
}

}  // namespace
}  // namespace windtunnel::serve
