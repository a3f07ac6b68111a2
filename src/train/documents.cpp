#include "windtunnel/train/documents.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "windtunnel/base/contracts.hpp"
#include "windtunnel/base/variates.hpp"

namespace windtunnel::train {
namespace {

constexpr std::uint32_t lengths_purpose = 0x444F4353U;  // "DOCS": fixed once and for all
constexpr std::size_t most_documents = 1'000'000;

/// Lengths in turn, each from 1 token to the sequence.
class Lengths {
public:
    Lengths(const model::Documents& documents, double longest)
        : documents_{documents}, longest_{longest}, draws_{{documents.seed, lengths_purpose, 0}} {}
    [[nodiscard]] double next() {
        const double length = documents_.lengths.empty() ? base::lognormal(draws_, documents_.sigma, documents_.median)
                                                         : documents_.lengths[number_++ % documents_.lengths.size()];
        return std::clamp(length, 1.0, longest_);
    }

private:
    const model::Documents& documents_;
    double longest_;
    base::Draws draws_;
    std::size_t number_ = 0;
};

struct Bin {
    double tokens = 0.0, work = 0.0, squares = 0.0;
};

/// Documents of each micro-batch in the order in which they come.
std::vector<std::vector<double>> filled_in_order(const model::Documents& documents, const Bins& bins,
                                                 std::size_t num_bins) {
    Lengths lengths{documents, bins.sequence_length};
    std::vector<std::vector<double>> filled(num_bins);
    const double room = bins.sequences * bins.sequence_length;
    std::size_t taken = 0;
    double next = lengths.next();
    for (std::vector<double>& bin : filled) {
        if (documents.packing == model::Packing::padded) {
            for (double sequence = 0.0; sequence < bins.sequences; sequence += 1.0) {
                bin.push_back(next);
                next = lengths.next();
            }
            continue;
        }
        for (double used = 0.0; used + next <= room && taken < most_documents; ++taken) {
            bin.push_back(next);
            used += next;
            next = lengths.next();
        }
    }
    return filled;
}

std::vector<Bin> by_longest(const std::vector<std::vector<double>>& filled, const DocumentWork& work, double room,
                            int& delayed) {
    std::vector<double> all;
    for (const auto& bin : filled) all.insert(all.end(), bin.begin(), bin.end());
    std::stable_sort(all.begin(), all.end(), std::greater<>{});
    std::vector<Bin> bins(filled.size());
    std::set<std::pair<double, std::size_t>> by_work, by_tokens;
    for (std::size_t i = 0; i < bins.size(); ++i) {
        by_work.emplace(0.0, i);
        by_tokens.emplace(0.0, i);
    }
    for (const double length : all) {
        std::size_t index = by_work.begin()->second;
        if (bins[index].tokens + length > room) index = by_tokens.begin()->second;
        Bin& bin = bins[index];
        if (bin.tokens + length > room) {
            ++delayed;
            continue;
        }
        by_work.erase({bin.work, index});
        by_tokens.erase({bin.tokens, index});
        bin.tokens += length;
        bin.work += work.of(length);
        bin.squares += length * length;
        by_work.emplace(bin.work, index);
        by_tokens.emplace(bin.tokens, index);
    }
    return bins;
}

}  // namespace

std::vector<double> longest_first(std::vector<double> work, int bins) {
    std::vector<double> load(static_cast<std::size_t>(bins), 0.0);
    std::stable_sort(work.begin(), work.end(), std::greater<>{});
    for (const double one : work) *std::min_element(load.begin(), load.end()) += one;
    return load;
}

Packed pack(const model::Documents& documents, const Bins& bins, const DocumentWork& work, int stages) {
    base::expects(bins.replicas >= 1 && bins.micro_batches >= 1, "there is a micro-batch");
    const auto replicas = static_cast<std::size_t>(bins.replicas), m = static_cast<std::size_t>(bins.micro_batches);
    const auto filled = filled_in_order(documents, bins, replicas * m);
    Packed packed;
    std::vector<Bin> all;
    const double room = bins.sequences * bins.sequence_length;
    if (documents.packing == model::Packing::longest_first) {
        all = by_longest(filled, work, room, packed.delayed);
    } else {
        for (const auto& documents_of : filled) {
            Bin bin;
            for (const double length : documents_of) {
                bin.tokens += length;
                bin.work += work.of(length);
                bin.squares += length * length;
            }
            all.push_back(bin);
        }
    }
    const double full = bins.sequences * work.of(bins.sequence_length);
    double sum = 0.0, most = 0.0;
    for (const Bin& bin : all) {
        packed.tokens += bin.tokens;
        packed.square_tokens += bin.squares;
        sum += bin.work;
        most = std::max(most, bin.work);
    }
    packed.fill = packed.tokens / (room * static_cast<double>(all.size()));
    packed.imbalance = sum > 0.0 ? most * static_cast<double>(all.size()) / sum : 1.0;
    double latest = -1.0;
    for (std::size_t replica = 0; replica < replicas; ++replica) {
        double total = 0.0, largest = 0.0;
        for (std::size_t i = 0; i < m; ++i) {
            total += all[i * replicas + replica].work;
            largest = std::max(largest, all[i * replicas + replica].work);
        }
        const double end = total + (stages - 1.0) * largest;
        if (end <= latest) continue;
        latest = end;
        packed.load.clear();
        for (std::size_t i = 0; i < m; ++i) packed.load.push_back(all[i * replicas + replica].work / full);
    }
    return packed;
}

}  // namespace windtunnel::train
