#include "windtunnel/validate/chain_rows.hpp"

#include <cmath>

#include "windtunnel/avail/chain_answer.hpp"

namespace windtunnel::validate {

std::vector<RowResult> run_chain(const model::Chain& chain) {
    std::vector<RowResult> lines;
    if (chain.expected.empty()) return lines;
    const avail::ChainAnswer answer = avail::answer_chain(chain);
    for (const model::ExpectedAnswer& expected : chain.expected) {
        RowResult line;
        line.id = chain.id;
        line.file = chain.id;
        line.family = chain.id + "/" + chain.group;
        line.quantity = chain.variant.empty() ? expected.quantity : chain.variant + "." + expected.quantity;
        line.measured = expected.value;
        line.tolerance = expected.tolerance;
        line.tolerance_is_absolute = expected.absolute || expected.value == 0.0;
        if (!answer.findings.empty()) {
            line.reason = answer.findings.front().text();
        } else if (expected.quantity == "states") {
            line.predicted = static_cast<double>(answer.num_states);
        } else {
            for (const avail::MeasureAnswer& measure : answer.measures) {
                if (measure.name != expected.quantity) continue;
                line.predicted = measure.value;
                line.low = measure.value - std::abs(measure.value) * measure.error;
                line.high = measure.value + std::abs(measure.value) * measure.error;
            }
        }
        lines.push_back(std::move(line));
    }
    return lines;
}

}  // namespace windtunnel::validate
