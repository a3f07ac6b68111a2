#include "windtunnel/comm/fair_share.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "windtunnel/base/philox.hpp"
#include "windtunnel/topology/builders.hpp"

namespace windtunnel::comm {
namespace {

std::vector<BytesPerSecond> channels(std::initializer_list<double> rates) {
    std::vector<BytesPerSecond> all;
    for (const double rate : rates) all.emplace_back(rate);
    return all;
}

// Channels of 10 and 4. A over both, B over the first, C over the second: A and C take 2 each, B the other 8.
TEST(FairRates, GiveWhatABottleneckLeaves) {
    const std::vector<Flow> flows{{{{0, 1.0}, {1, 1.0}}}, {{{0, 1.0}}}, {{{1, 1.0}}}};
    const auto rates = fair_rates(channels({10, 4}), flows);
    EXPECT_EQ(rates[0].value(), 2.0);
    EXPECT_EQ(rates[1].value(), 8.0);
    EXPECT_EQ(rates[2].value(), 2.0);
}

// One channel of 12: a flow that wants 2 has 2, the others share 10 as 1 : 3.
TEST(FairRates, KeepToWeightsAndToWhatAFlowWants) {
    std::vector<Flow> flows(3, Flow{{{0, 1.0}}});
    flows[0].most = BytesPerSecond{2.0};
    flows[2].weight = 3.0;
    const auto rates = fair_rates(channels({12}), flows);
    EXPECT_NEAR(rates[0].value(), 2.0, 1e-12);
    EXPECT_NEAR(rates[1].value(), 2.5, 1e-12);
    EXPECT_NEAR(rates[2].value(), 7.5, 1e-12);
}

// The higher priority takes its 6 of 10 first; the lower one has 4, though it asked for 8.
TEST(FairRates, ServeTheHigherPriorityFirst) {
    std::vector<Flow> flows(2, Flow{{{0, 1.0}}});
    flows[0].most = BytesPerSecond{8.0};
    flows[1].most = BytesPerSecond{6.0};
    flows[1].priority = 1;
    const auto rates = fair_rates(channels({10}), flows);
    EXPECT_NEAR(rates[1].value(), 6.0, 1e-12);
    EXPECT_NEAR(rates[0].value(), 4.0, 1e-12);
}

TEST(FairRates, OfALinkThatIsDownAreNothing) {
    const std::vector<Flow> flows{{{{0, 1.0}}}, {{{1, 1.0}}}};
    const auto rates = fair_rates(channels({0, 5}), flows);
    EXPECT_EQ(rates[0].value(), 0.0);
    EXPECT_EQ(rates[1].value(), 5.0);
}

/// The slow twin: water poured in small equal drops, each flow taking drops while all of its channels have room.
std::vector<double> poured(const std::vector<BytesPerSecond>& capacities, const std::vector<Flow>& flows, double drop) {
    std::vector<double> left, rates(flows.size(), 0.0);
    for (const BytesPerSecond capacity : capacities) left.push_back(capacity.value());
    for (bool any = true; any;) {
        any = false;
        for (std::size_t i = 0; i < flows.size(); ++i) {
            bool room = flows[i].most.value() == 0.0 || rates[i] + drop * flows[i].weight <= flows[i].most.value();
            for (const Flow::Use& use : flows[i].uses)
                room = room && left[static_cast<std::size_t>(use.channel)] >= use.share * drop * flows[i].weight;
            if (!room) continue;
            any = true;
            rates[i] += drop * flows[i].weight;
            for (const Flow::Use& use : flows[i].uses)
                left[static_cast<std::size_t>(use.channel)] -= use.share * drop * flows[i].weight;
        }
    }
    return rates;
}

// Random networks: as poured in drops; no channel overflows; every flow has a full channel on which nobody has more.
TEST(FairRates, AreThoseOfWaterFillingAndCannotBeBettered) {
    base::Draws random{{11, 1, 0}};
    for (int trial = 0; trial < 40; ++trial) {
        std::vector<BytesPerSecond> capacities;
        for (int c = 0; c < 5; ++c) capacities.emplace_back(static_cast<double>(1 + random.bits() % 20));
        std::vector<Flow> flows;
        for (int f = 0; f < 6; ++f) {
            Flow flow;
            for (int c = 0; c < 5; ++c)
                if (random.bits() % 2 == 0) flow.uses.push_back({c, random.bits() % 2 == 0 ? 1.0 : 0.5});
            if (flow.uses.empty()) flow.uses.push_back({0, 1.0});
            flows.push_back(flow);
        }
        const auto rates = fair_rates(capacities, flows);
        const std::vector<double> drops = poured(capacities, flows, 1e-3);
        std::vector<double> load(5, 0.0);
        for (std::size_t i = 0; i < flows.size(); ++i) {
            EXPECT_NEAR(rates[i].value(), drops[i], 0.05);
            for (const Flow::Use& use : flows[i].uses)
                load[static_cast<std::size_t>(use.channel)] += use.share * rates[i].value();
        }
        for (std::size_t c = 0; c < 5; ++c) EXPECT_LE(load[c], capacities[c].value() * (1 + 1e-9));
        for (std::size_t i = 0; i < flows.size(); ++i) {
            const bool stopped = std::any_of(flows[i].uses.begin(), flows[i].uses.end(), [&](const Flow::Use& use) {
                if (load[static_cast<std::size_t>(use.channel)] <
                    capacities[static_cast<std::size_t>(use.channel)].value() * (1 - 1e-9))
                    return false;
                for (std::size_t j = 0; j < flows.size(); ++j)
                    for (const Flow::Use& other : flows[j].uses)
                        if (other.channel == use.channel && rates[j].value() > rates[i].value() * (1 + 1e-9))
                            return false;
                return true;
            });
            EXPECT_TRUE(stopped) << trial << ' ' << i;
        }
    }
}

// 25 GB/s, a checkpoint of 100 GB and training that wants 60 % of the link: with training first the checkpoint has
// 10 GB/s: 10 s. With equal shares training has 12.5 instead of 15 GB/s.
TEST(FairTimes, OfACheckpointBesideTraining) {
    std::vector<Flow> flows(2, Flow{{{0, 1.0}}});
    flows[0].most = BytesPerSecond{15e9};
    flows[0].priority = 1;
    const auto link = channels({25e9});
    EXPECT_NEAR(fair_times(link, flows, std::vector<Bytes>{Bytes{150e9}, Bytes{100e9}})[1].value(), 10.0, 1e-9);
    flows[0].priority = 0;
    EXPECT_NEAR(fair_rates(link, flows)[0].value(), 12.5e9, 1.0);
}

// Two flows of 10 and 30 bytes over a channel of 10: 5 each until 2 s, then 10: the second ends at 4 s.
TEST(FairTimes, DealAnewWhenAFlowEnds) {
    const std::vector<Flow> flows(2, Flow{{{0, 1.0}}});
    const auto ends = fair_times(channels({10}), flows, std::vector<Bytes>{Bytes{10}, Bytes{30}});
    EXPECT_NEAR(ends[0].value(), 2.0, 1e-12);
    EXPECT_NEAR(ends[1].value(), 4.0, 1e-12);
    EXPECT_TRUE(std::isinf(fair_times(channels({0}), {flows.data(), 1}, std::vector<Bytes>{Bytes{1}})[0].value()));
}

// Leaves of 2 nodes at 4:1. A ring between nodes crosses leaves with 1 of 2 nodes' flows: 8 x 25 of 4 x 25 GB/s there:
// each crossing flow has 12.5 GB/s. Node i to node i + 2: all flows cross: 16 x 25 of 4 x 25: 6.25 GB/s.
TEST(FairRates, OnAnOversubscribedLeafDependOnWhoCrosses) {
    const topology::Graph graph =
        topology::mesh_nodes({4, 8, BytesPerSecond{196e9}, BytesPerSecond{25e9}, 20, 4.0, Seconds{0.0}, Seconds{0.0}});
    const topology::Health health{graph};
    ASSERT_EQ(topology::leaf_ports(20, 4.0).down, 16);
    for (const auto& [step, slowest] : {std::pair{1, 12.5e9}, std::pair{2, 6.25e9}}) {
        std::vector<Flow> flows;
        for (int card = 0; card < 32; ++card)
            flows.push_back(flow_of(graph, health, card, (card + 8 * step) % 32, topology::Spread::spray));
        const auto rates = fair_rates(channels_of(graph, health), flows);
        EXPECT_NEAR(std::min_element(rates.begin(), rates.end())->value(), slowest, 1.0);
    }
}

}  // namespace
}  // namespace windtunnel::comm
