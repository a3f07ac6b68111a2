#include "windtunnel/model/measurement.hpp"

namespace windtunnel::model {
namespace {

template <class Number>
std::string text_of(const std::optional<Number>& number) {
    return number ? std::to_string(*number) : std::string{};
}

}  // namespace

std::uint64_t fit_hash(const PublishedRow& row) {
    const std::string key = row.model + '|' + text_of(row.sequence) + '|' + row.accelerator + '|' + text_of(row.cards) +
                            '|' + row.dtype + '|' + text_of(row.tp) + '|' + text_of(row.pp) + '|' +
                            std::to_string(row.cp.value_or(1)) + '|' + std::to_string(row.ep.value_or(1)) + '|' +
                            text_of(row.mbs) + '|' + text_of(row.gbs);
    std::uint64_t hash = 14695981039346656037ULL;
    for (const char character : key) {
        hash ^= static_cast<unsigned char>(character);
        hash *= 1099511628211ULL;
    }
    return hash;
}

}  // namespace windtunnel::model
