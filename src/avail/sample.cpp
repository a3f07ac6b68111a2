#include "windtunnel/avail/sample.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "chain_paths.hpp"

namespace windtunnel::avail {
namespace {

using model::MeasureKind;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr double z_95 = 1.959963984540054;  // normal quantile of 0.975
constexpr double t_95 = 2.039513446396408;  // quantile 0.975 of Student's t with 31 degrees of freedom

/// Of a share of so many paths: holds also where none or all reached the target.
/// Source: Wilson, Journal of the American Statistical Association 22, 1927.
void score_interval(SampledMeasure& answer, std::uint64_t paths) {
    if (paths == 0) return;
    const double n = static_cast<double>(paths), z2 = z_95 * z_95, p = answer.value;
    const double centre = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
    const double half = z_95 / (1.0 + z2 / n) * std::sqrt(p * (1.0 - p) / n + z2 / (4.0 * n * n));
    answer.low = std::max(centre - half, 0.0);
    answer.high = std::min(centre + half, 1.0);
}

}  // namespace

ChainSampler::ChainSampler(const model::Chain& chain, SampleMethod method)
    : paths_{std::make_unique<ChainPaths>(chain, method)} {}
ChainSampler::ChainSampler(const ChainSampler& other) : paths_{std::make_unique<ChainPaths>(*other.paths_)} {}
ChainSampler::ChainSampler(ChainSampler&&) noexcept = default;
ChainSampler::~ChainSampler() = default;

SampleSums ChainSampler::nothing() const {
    SampleSums sums;
    sums.measures.resize(paths_->chain().measures.size());
    for (MeasureSums& measure : sums.measures) measure.sections.resize(paths_->num_sections_used());
    return sums;
}

std::uint64_t ChainSampler::try_out(std::uint64_t seed) {
    constexpr std::uint64_t trials = 4;
    SampleSums sums = nothing();
    run(seed, {0, trials}, sums);
    for (std::size_t m = 0; m < sums.measures.size(); ++m)
        if (sums.measures[m].unreached > 0) paths_->leave_out(m);
    return sums.events / trials;
}

void ChainSampler::run(std::uint64_t seed, TrialRange trials, SampleSums& sums) {
    paths_->begin_run();
    for (std::uint64_t trial = trials.begin; trial < trials.end; ++trial) paths_->run(seed, trial, sums);
}

std::vector<SampledMeasure> ChainSampler::answers(const SampleSums& sums) const {
    const model::Chain& chain = paths_->chain();
    std::vector<SampledMeasure> answers(chain.measures.size());
    // Means, and means without one section each, for the formulas.
    std::vector<std::vector<double>> without(num_sections, std::vector<double>(answers.size(), 0.0));
    std::vector<double> means(answers.size(), 0.0);
    for (std::size_t m = 0; m < answers.size(); ++m) {
        SampledMeasure& answer = answers[m];
        const MeasureSums& sum = sums.measures[m];
        answer.name = chain.measures[m].name;
        answer.method = paths_->method_of(m);
        answer.unreached = sum.unreached;
        answer.values = sum.values;
        double quantile = z_95;
        if (paths_->way(m) == Way::formula) {
            answer.value = chain.measures[m].formula(means);
            double mean = 0.0, squares = 0.0;
            for (std::size_t s = 0; s < num_sections; ++s) {
                without[s][m] = chain.measures[m].formula(without[s]);
                mean += without[s][m] / static_cast<double>(num_sections);
            }
            for (std::size_t s = 0; s < num_sections; ++s) squares += (without[s][m] - mean) * (without[s][m] - mean);
            answer.standard_error = std::sqrt(squares * (num_sections - 1.0) / static_cast<double>(num_sections));
            quantile = t_95;
        } else {
            const PairMoments all = sum.all();
            answer.value = all.count > 0 ? all.ratio() : unknown;
            answer.standard_error = all.standard_error();
            for (std::size_t s = 0; s < sum.sections.size() && sum.sections.size() > 1; ++s) {
                PairMoments rest;
                for (std::size_t other = 0; other < sum.sections.size(); ++other)
                    if (other != s) rest.merge(sum.sections[other]);
                without[s][m] = rest.count > 0 ? rest.ratio() + paths_->usual_reward(m).value_or(0.0) : unknown;
            }
        }
        if (const auto usual = paths_->usual_reward(m)) answer.value += *usual;
        means[m] = answer.value;
        answer.low = answer.value - quantile * answer.standard_error;
        answer.high = answer.value + quantile * answer.standard_error;
        const bool one_answer = answer.value == 0.0 || answer.value == 1.0;  // perhaps a share of paths
        if (paths_->way(m) == Way::rare) {
            if (answer.standard_error == 0.0 && sum.all().count > 1) {
                answer.method += "; no path came to the target: nothing is known of the upper end";
                answer.high = unknown;
            }
            continue;
        }
        if (chain.measures[m].kind == MeasureKind::probability ||
            (chain.measures[m].kind == MeasureKind::transient && one_answer))
            score_interval(answer, sum.all().count);
        else if (answer.standard_error == 0.0 && sum.all().count > 0)
            answer.method += "; all alike: their scatter is unknown";
    }
    return answers;
}

}  // namespace windtunnel::avail
