#include "windtunnel/model/serve_measurement.hpp"

#include <charconv>

#include "windtunnel/base/hash.hpp"

namespace windtunnel::model {
namespace {

const std::string& first_of(const ServeRow& row, const char* a, const char* b) {
    const std::string& text = row.text(a);
    return text.empty() ? row.text(b) : text;
}

}  // namespace

const std::string& ServeRow::text(const std::string& column) const {
    static const std::string none;
    const auto found = cells.find(column);
    return found == cells.end() ? none : found->second;
}

std::optional<double> ServeRow::number(const std::string& column) const {
    const std::string& cell = text(column);
    double value = 0.0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (cell.empty() || error != std::errc{} || end != cell.data() + cell.size()) return std::nullopt;
    return value;
}

int ServeRow::integer(const std::string& column, int otherwise) const {
    const auto value = number(column);
    return value && *value >= 1.0 && *value <= 1e6 ? static_cast<int>(*value) : otherwise;
}

const std::string& ServeRow::model_name() const {
    return text("model");
}
const std::string& ServeRow::hardware() const {
    const std::string& device = first_of(*this, "system", "hardware");
    return device.empty() ? text("device") : device;
}
const std::string& ServeRow::dtype() const {
    return first_of(*this, "precision", "dtype");
}
const std::string& ServeRow::engine() const {
    return first_of(*this, "backend", "framework");
}

std::uint64_t serve_fit_hash(const ServeRow& row) {
    const std::string& tp = first_of(row, "tp", "chips");
    const std::string& ep = first_of(row, "moe_ep", "ep");
    std::string key;
    for (const std::string* part : {&row.model_name(), &row.hardware(), &row.dtype(), &row.text("isl"),
                                    &row.text("osl"), &tp, &row.text("pp"), &ep}) {
        if (part != &row.model_name()) key += '|';
        key += *part;
    }
    return base::fnv1a_64(key);
}

int model_fold(const std::string& model) {
    return static_cast<int>(base::fnv1a_64(model) % 5);
}

}  // namespace windtunnel::model
