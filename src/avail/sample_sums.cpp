#include "windtunnel/avail/sample.hpp"

namespace windtunnel::avail {

void MeasureSums::merge(const MeasureSums& other) {
    if (sections.size() < other.sections.size()) sections.resize(other.sections.size());
    for (std::size_t i = 0; i < other.sections.size(); ++i) sections[i].merge(other.sections[i]);
    values.merge(other.values);
    unreached += other.unreached;
}

PairMoments MeasureSums::all() const noexcept {
    PairMoments sum;
    for (const PairMoments& section : sections) sum.merge(section);
    return sum;
}

void SampleSums::merge(const SampleSums& other) {
    if (measures.size() < other.measures.size()) measures.resize(other.measures.size());
    for (std::size_t i = 0; i < other.measures.size(); ++i) measures[i].merge(other.measures[i]);
    trials += other.trials;
    events += other.events;
}

void SampleSums::pack(base::Packer& packer) const {
    packer.put(trials);
    packer.put(events);
    packer.put(static_cast<std::uint64_t>(measures.size()));
    for (const MeasureSums& measure : measures) {
        packer.put(measure.unreached);
        packer.put(static_cast<std::uint64_t>(measure.sections.size()));
        for (const PairMoments& section : measure.sections) section.pack(packer);
        measure.values.pack(packer);
    }
}

SampleSums SampleSums::unpack(base::Unpacker& unpacker) {
    SampleSums sums;
    sums.trials = unpacker.get<std::uint64_t>();
    sums.events = unpacker.get<std::uint64_t>();
    for (auto left = unpacker.get<std::uint64_t>(); left > 0; --left) {
        MeasureSums& measure = sums.measures.emplace_back();
        measure.unreached = unpacker.get<std::uint64_t>();
        for (auto sections = unpacker.get<std::uint64_t>(); sections > 0; --sections)
            measure.sections.push_back(PairMoments::unpack(unpacker));
        measure.values = base::QuantileSketch::unpack(unpacker);
    }
    return sums;
}

}  // namespace windtunnel::avail
