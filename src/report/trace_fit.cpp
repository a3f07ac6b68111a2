#include "windtunnel/report/trace_fit.hpp"

#include <fmt/format.h>

#include "windtunnel/report/text_table.hpp"
#include "windtunnel/report/units.hpp"

namespace windtunnel::report {
namespace {

void add_rows(TextTable& table, const char* what, const std::vector<serve::FittedLaw>& laws, double critical) {
    for (const serve::FittedLaw& law : laws)
        table.add_row({what, law.law, fmt::format("{:.5g}", law.mean), fmt::format("{:.4g}", law.variation),
                       fmt::format("{:.4f}", law.distance), law.distance <= critical ? "yes" : "no"});
}

std::string law_lines(const char* section, const std::vector<serve::FittedLaw>& laws, const base::Moments& moments) {
    if (laws.empty()) return {};
    const serve::FittedLaw& best = laws.front();
    std::string text = fmt::format("\n[serve.load.{}]    # KS distance {:.4f}\nlaw = \"{}\"\nmean = {:.6g}\n", section,
                                   best.distance, best.law, best.mean < 1.0 ? 1.0 : best.mean);
    if (best.law != "fixed") text += fmt::format("variation = {:.6g}\n", best.variation);
    return text + fmt::format("least = {:.0f}\nmost = {:.0f}\n", moments.minimum, moments.maximum);
}

}  // namespace

std::string trace_fit_text(const serve::TraceFit& fit, const std::string& format) {
    std::string text = fmt::format(
        "{} requests over {} ({} columns): {:.4g} requests/s, time between two of them varies by {:.3g}\n"
        "input {:.1f} tokens (largest {:.0f}), output {:.1f} (largest {:.0f}), correlation {:.2f}\n",
        grouped(fit.rows), human(Seconds{fit.span_s}), format, fit.gaps_s.mean > 0.0 ? 1.0 / fit.gaps_s.mean : 0.0,
        fit.gaps_s.mean > 0.0 ? fit.gaps_s.standard_deviation() / fit.gaps_s.mean : 0.0, fit.input.mean,
        fit.input.maximum, fit.output.mean, fit.output.maximum, fit.correlation());
    TextTable table{{"of", "law", "mean", "variation", "KS distance", "fits at 5 %"}};
    add_rows(table, "gaps (s)", fit.arrivals, fit.critical);
    add_rows(table, "input", fit.inputs, fit.critical);
    add_rows(table, "output", fit.outputs, fit.critical);
    return text + table.text() +
           fmt::format("  a sample of the law itself exceeds a distance of {:.4f} in 5 of 100 cases\n", fit.critical);
}

std::string trace_fit_toml(const serve::TraceFit& fit, const std::string& source) {
    std::string text = fmt::format(
        "# Laws fitted to {}: {} requests. Paste into a plan; or replay the rows themselves: arrivals = \"trace\",\n"
        "# trace = \"requests.csv\". Distances (Kolmogorov and Smirnov) up to {:.4f} are what a sample of the law "
        "itself "
        "has.\n[serve.load]\n",
        source, fit.rows, fit.critical);
    if (!fit.arrivals.empty()) {
        const serve::FittedLaw& best = fit.arrivals.front();
        text += fmt::format("arrivals = \"{}\"    # KS distance {:.4f}\nrequest_rate = {:.6g}\n", best.law,
                            best.distance, 1.0 / best.mean);
        if (best.law != "poisson") text += fmt::format("burstiness = {:.6g}\n", best.shape);
    }
    text += fmt::format("requests = {}\n", fit.rows);
    return text + law_lines("input", fit.inputs, fit.input) + law_lines("output", fit.outputs, fit.output);
}

std::string trace_heading(bool with_blocks) {
    return with_blocks ? "arrival_s,input_tokens,output_tokens,block_ids\n" : "arrival_s,input_tokens,output_tokens\n";
}

std::string trace_line(const model::TraceRow& row, const std::vector<std::uint32_t>& blocks, bool with_blocks) {
    std::string text = fmt::format("{},{},{}", row.arrival_s, row.input_tokens, row.output_tokens);
    if (!with_blocks) return text + '\n';
    text += ',';
    for (std::size_t i = 0; i < blocks.size();) {
        std::size_t last = i;
        while (last + 1 < blocks.size() && blocks[last + 1] == blocks[last] + 1) ++last;
        text += i == 0 ? "" : " ";
        text += last > i ? fmt::format("{}-{}", blocks[i], blocks[last]) : fmt::format("{}", blocks[i]);
        i = last + 1;
    }
    return text + '\n';
}

}  // namespace windtunnel::report
