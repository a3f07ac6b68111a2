#include "train_series.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

namespace windtunnel::validate {
namespace {

using model::PublishedRow;

void put(Figure figure, std::optional<double> value, int count, std::vector<Figure>& figures) {
    figure.value = value;
    figure.count = count;
    figures.push_back(std::move(figure));
}

std::string text(const std::optional<int>& value) {
    return value ? std::to_string(*value) : "";
}

/// What the rows of one sweep have in common.
std::string sweep_key(const PublishedRow& row) {
    const auto batch = row.gbs ? std::to_string(*row.gbs) : std::string{};
    // Only these chronicles repeat a layout over weeks in which the software changed; the date stands in the source.
    const std::string source = row.file == "bloom_bigscience" ? row.source : std::string{};
    return row.file + '|' + source + '|' + row.model + '|' + text(row.hidden) + '|' + text(row.layers) + '|' +
           text(row.heads) + '|' + text(row.ffn) + '|' + text(row.sequence) + '|' + batch + '|' + row.dtype + '|' +
           text(row.cards) + '|' + row.accelerator;
}

/// Time of a row, measured and predicted; what is converted counts as the inverse of its MFU.
std::optional<MeasuredPair> times_of(const RowResult& line) {
    if (!line.predicted || !line.measured || !(*line.predicted > 0.0) || !(*line.measured > 0.0)) return std::nullopt;
    if (line.quantity == "step_time_s") return MeasuredPair{*line.predicted, *line.measured};
    if (line.quantity == "mfu") return MeasuredPair{1.0 / *line.predicted, 1.0 / *line.measured};
    return std::nullopt;
}

struct Point {
    int cards = 0;
    double measured = 0.0, predicted = 0.0;  // tokens/s and card
    bool judges = false;
};

/// What the rows of one series have in common: all but cards, batch and, in strong scaling, micro-batches.
std::string series_key(const PublishedRow& row) {
    // The last word of such ids tells weak from strong scaling of one model and layout.
    const std::string strong = row.id.find("_strong_") != std::string::npos ? "strong" : "";
    return row.file + ' ' + row.model + ' ' + row.dtype + ' ' + row.accelerator + " seq " + text(row.sequence) +
           (row.release.empty() ? "" : " release " + row.release) + " tp" + text(row.tp) + " pp" + text(row.pp) +
           " cp" + text(row.cp) + " ep" + text(row.ep) + " mbs" + text(row.mbs) +
           (row.recompute ? " " + *row.recompute : "") +
           (row.zero_group ? " shard group " + text(row.zero_group) : "") + (strong.empty() ? "" : " " + strong);
}

/// Growth of the slowest of `n` cards' times with n, in standard deviations: the bound of normal times.
double slowest_of(int n) {
    return std::sqrt(2.0 * std::log(double(std::max(n, 1))));
}

/// Series that print throughput per card relative to a base and no layout. One number, the spread of a card's step,
/// follows from the points up to 1,024 cards; it predicts the points beyond and the claims of other models.
void linearity_figures(const std::vector<RowOf>& lines, std::vector<Figure>& figures,
                       std::map<std::string, std::pair<double, int>>& worst) {
    constexpr int most_fitted = 1024;
    double products = 0.0, squares = 0.0;
    std::vector<const PublishedRow*> rows;
    for (const RowOf& of : lines) {
        const PublishedRow& row = *of.row;
        if (!row.linearity || !row.linearity_base || !row.cards) continue;
        if (!rows.empty() && rows.back() == &row) continue;  // a row has a line for each quantity
        rows.push_back(&row);
        if (*row.cards > most_fitted) continue;
        const double growth = slowest_of(*row.cards) - slowest_of(*row.linearity_base);
        products += growth * (1.0 / *row.linearity - 1.0);
        squares += growth * growth;
    }
    if (!(squares > 0.0)) return;
    const double spread = products / squares;
    Figure figure;
    figure.table = "scaling efficiency";
    figure.name = "linearity up to 1024 cards";
    figure.measure = "spread of a card's step";
    put(figure, spread, static_cast<int>(rows.size()), figures);
    for (const PublishedRow* row : rows) {
        const double predicted = 1.0 / (1.0 + spread * (slowest_of(*row->cards) - slowest_of(*row->linearity_base)));
        figure.name = row->file + ' ' + row->model + ' ' + row->accelerator + ", " +
                      std::to_string(*row->linearity_base) + " to " + std::to_string(*row->cards) + " cards";
        for (const auto& [measure, value] : {std::pair{"measured", *row->linearity}, std::pair{"predicted", predicted},
                                             std::pair{"difference", predicted - *row->linearity}}) {
            figure.measure = measure;
            put(figure, value, 1, figures);
        }
        if (*row->cards <= most_fitted) continue;
        auto& [most, count] = worst[row->file];
        most = std::max(most, std::abs(predicted - *row->linearity));
        ++count;
    }
}

bool has_series(const PublishedRow& row) {
    static const std::set<std::string_view> files{"dgxc_benchmarking", "mlperf_v41_gpt3", "internevo_7b"};
    return files.contains(row.file) || row.of_the_user;
}

}  // namespace

void add_ranks(const std::vector<MeasuredPair>& set, RankCorrelation& ranks) {
    for (std::size_t i = 0; i < set.size(); ++i)
        for (std::size_t j = i + 1; j < set.size(); ++j) {
            const double low = std::min(set[i].measured, set[j].measured);
            if (!(std::abs(set[i].measured - set[j].measured) > 0.03 * low)) continue;
            const double product = (set[i].measured - set[j].measured) * (set[i].predicted - set[j].predicted);
            ++(product > 0.0 ? ranks.concordant : ranks.discordant);
        }
}

void order_figures(const std::vector<RowOf>& lines, std::vector<Figure>& figures) {
    struct Sets {
        std::map<std::string, std::vector<MeasuredPair>> all, judging;
    };
    std::map<std::string, Sets> sweeps;
    const std::map<std::string_view, std::string> named{
        {"bloom_bigscience", "BLOOM"}, {"moe_parallel_folding", "MoE parallel folding"}, {"mosaicml_mpt", "MPT"}};
    for (const RowOf& of : lines) {
        const auto found = named.find(of.row->file);
        const auto times = times_of(*of.line);
        if (!times || (found == named.end() && !of.row->of_the_user)) continue;
        Sets& sets = sweeps[found == named.end() ? of.row->file : found->second];
        const std::string key = sweep_key(*of.row);
        sets.all[key].push_back(*times);
        if (!of.line->used_to_fit) sets.judging[key].push_back(*times);
    }
    for (const auto& [name, sets] : sweeps)
        for (const auto& [measure, groups] :
             {std::pair{"tau", &sets.judging}, std::pair{"tau with fitted rows", &sets.all}}) {
            RankCorrelation ranks;
            int scored = 0;
            for (const auto& [key, set] : *groups) {
                if (set.size() < 4) continue;
                add_ranks(set, ranks);
                ++scored;
            }
            Figure figure;
            figure.table = "order of layouts";
            figure.name = name;
            figure.measure = measure;
            put(figure, ranks.pairs() > 0 ? std::optional{ranks.tau()} : std::nullopt, ranks.pairs(), figures);
            figure.measure = std::string{measure} == "tau" ? "sets" : "sets with fitted rows";
            put(figure, scored, scored, figures);
        }
}

void scaling_figures(const std::vector<RowOf>& lines, std::vector<Figure>& figures) {
    std::map<std::string, std::map<int, Point>> series;
    std::map<std::string, std::string> file_of;
    for (const RowOf& of : lines) {
        const PublishedRow& row = *of.row;
        const auto times = times_of(*of.line);
        if (!times || of.line->quantity != "step_time_s" || !has_series(row) || !row.gbs || !row.sequence || !row.cards)
            continue;
        const double tokens = double(*row.gbs) * *row.sequence / *row.cards;
        const std::string key = series_key(row);
        // Two rows of one size differ in what the key leaves out: the larger batch per card is the weak-scaling one.
        Point& point = series[key][*row.cards];
        if (point.cards > 0 && tokens / times->measured < point.measured) continue;
        point = {*row.cards, tokens / times->measured, tokens / times->predicted, !of.line->used_to_fit};
        file_of[key] = row.file;
    }
    Figure figure;
    figure.table = "scaling efficiency";
    std::map<std::string, std::pair<double, int>> worst;  // by file, over the points that judge
    for (const auto& [name, points] : series) {
        if (points.size() < 3) continue;
        const Point& first = points.begin()->second;
        for (const auto& [cards, point] : points) {
            if (cards == first.cards) continue;
            const double measured = point.measured / first.measured, predicted = point.predicted / first.predicted;
            figure.name = name + ", " + std::to_string(first.cards) + " to " + std::to_string(cards) + " cards";
            figure.measure = "measured";
            put(figure, measured, 1, figures);
            figure.measure = "predicted";
            put(figure, predicted, 1, figures);
            figure.measure = "difference";
            put(figure, predicted - measured, 1, figures);
            if (!point.judges) continue;
            auto& [most, count] = worst[file_of[name]];
            most = std::max(most, std::abs(predicted - measured));
            ++count;
        }
    }
    linearity_figures(lines, figures, worst);
    for (const auto& [file, of] : worst) {
        figure.name = "worst of " + file;
        figure.measure = "difference";
        put(figure, of.first, of.second, figures);
    }
}

}  // namespace windtunnel::validate
