#include "windtunnel/avail/summary.hpp"

#include <array>

namespace windtunnel::avail {

namespace {

template <class AnySummary>
auto distributions(AnySummary& summary) {
    return std::array{&summary.availability, &summary.goodput, &summary.wall_s, &summary.stops};
}

template <class AnySummary>
auto moments(AnySummary& summary) {
    return std::array{&summary.useful_s,      &summary.slowed_s,    &summary.checkpoint_s, &summary.lost_s,
                      &summary.detection_s,   &summary.recovery_s,  &summary.waiting_s,    &summary.stops_per_day,
                      &summary.fewest_spares, &summary.mean_spares, &summary.without_spare};
}

void merge_each(std::vector<base::Moments>& into, const std::vector<base::Moments>& from) {
    if (into.size() < from.size()) into.resize(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) into[i].merge(from[i]);
}

void pack_each(const std::vector<base::Moments>& all, base::Packer& packer) {
    packer.put(static_cast<std::uint64_t>(all.size()));
    for (const base::Moments& one : all) one.pack(packer);
}

std::vector<base::Moments> unpack_each(base::Unpacker& unpacker) {
    std::vector<base::Moments> all;
    const auto size = unpacker.get<std::uint64_t>();
    for (std::uint64_t i = 0; i < size; ++i) all.push_back(base::Moments::unpack(unpacker));
    return all;
}

}  // namespace

Distribution Distribution::unpack(base::Unpacker& unpacker) {
    Distribution distribution;
    distribution.moments = base::Moments::unpack(unpacker);
    distribution.sketch = base::QuantileSketch::unpack(unpacker);
    return distribution;
}

void Summary::add(const History& history) {
    const double wall = history.wall.value();
    const double down = (history.detection + history.recovery + history.waiting).value();
    availability.add(wall > 0.0 ? 1.0 - down / wall : 1.0);
    goodput.add(wall > 0.0 ? history.useful.value() / wall : 1.0);
    wall_s.add(wall);
    stops.add(static_cast<double>(history.stops));
    useful_s.add(history.useful.value());
    slowed_s.add(history.slowed.value());
    checkpoint_s.add(history.checkpoint.value());
    lost_s.add(history.lost.value());
    detection_s.add(history.detection.value());
    recovery_s.add(history.recovery.value());
    waiting_s.add(history.waiting.value());
    stops_per_day.add(wall > 0.0 ? static_cast<double>(history.stops) / (history.wall / base::day) : 0.0);
    fewest_spares.add(history.fewest_spares);
    mean_spares.add(wall > 0.0 ? history.spare_seconds / wall : 0.0);
    without_spare.add(wall > 0.0 ? history.without_spare.value() / wall : 0.0);
    num_unfinished += history.finished ? 0U : 1U;
    failures.resize(history.failures.size());
    time_lost_s.resize(history.time_lost.size());
    recoveries.resize(history.recoveries.size());
    for (std::size_t i = 0; i < failures.size(); ++i) failures[i].add(static_cast<double>(history.failures[i]));
    for (std::size_t i = 0; i < time_lost_s.size(); ++i) time_lost_s[i].add(history.time_lost[i].value());
    for (std::size_t i = 0; i < recoveries.size(); ++i) recoveries[i] += history.recoveries[i];
}

void Summary::merge(const Summary& other) {
    const auto from = distributions(other);
    const auto into = distributions(*this);
    for (std::size_t i = 0; i < into.size(); ++i) into[i]->merge(*from[i]);
    const auto moments_from = moments(other);
    const auto moments_into = moments(*this);
    for (std::size_t i = 0; i < moments_into.size(); ++i) moments_into[i]->merge(*moments_from[i]);
    num_unfinished += other.num_unfinished;
    merge_each(failures, other.failures);
    merge_each(time_lost_s, other.time_lost_s);
    if (recoveries.size() < other.recoveries.size()) recoveries.resize(other.recoveries.size());
    for (std::size_t i = 0; i < other.recoveries.size(); ++i) recoveries[i] += other.recoveries[i];
}

void Summary::pack(base::Packer& packer) const {
    for (const auto* one : distributions(*this)) one->pack(packer);
    for (const auto* one : moments(*this)) one->pack(packer);
    packer.put(num_unfinished);
    pack_each(failures, packer);
    pack_each(time_lost_s, packer);
    packer.put(recoveries);
}

Summary Summary::unpack(base::Unpacker& unpacker) {
    Summary summary;
    for (auto* one : distributions(summary)) *one = Distribution::unpack(unpacker);
    for (auto* one : moments(summary)) *one = base::Moments::unpack(unpacker);
    summary.num_unfinished = unpacker.get<std::uint64_t>();
    summary.failures = unpack_each(unpacker);
    summary.time_lost_s = unpack_each(unpacker);
    summary.recoveries = unpacker.get_vector<std::uint64_t>();
    return summary;
}

Summary evaluate(const JobOnCluster& job, std::uint64_t seed, TrialRange trials) {
    Summary summary;
    for (std::uint64_t trial = trials.begin; trial < trials.end; ++trial) summary.add(history(job, seed, trial));
    return summary;
}

double half_width_95(const base::Moments& moments) noexcept {
    return 1.959963984540054 * moments.standard_error();
}

}  // namespace windtunnel::avail
