#include "windtunnel/study/validate_study.hpp"

#include <fmt/format.h>

#include <limits>

#include "rows.hpp"
#include "windtunnel/base/hash.hpp"
#include "windtunnel/base/pack.hpp"
#include "windtunnel/study/schema.hpp"

namespace windtunnel::study {
namespace {

void put(base::Packer& packer, const std::optional<double>& value) {
    packer.put(static_cast<std::uint8_t>(value.has_value()));
    packer.put(value.value_or(0.0));
}

std::optional<double> get(base::Unpacker& unpacker) {
    const bool there = unpacker.get<std::uint8_t>() != 0;
    const auto value = unpacker.get<double>();
    return there ? std::optional{value} : std::nullopt;
}

double number(const std::optional<double>& value) {
    return value.value_or(std::numeric_limits<double>::quiet_NaN());
}

}  // namespace

ValidateStudy::ValidateStudy(model::Measurements measurements)
    : measurements_{std::make_shared<const model::Measurements>(std::move(measurements))},
      chains_{std::make_shared<const std::vector<model::Chain>>()} {
    identity_ = fmt::format("study = validate train\nrows = {}\n", measurements_->rows.size());
    for (const model::PublishedRow& row : measurements_->rows)
        identity_ += fmt::format("{} {}\n", row.id, base::hex_text(model::fit_hash(row)));
    // Measured values, defaults, calibrations, cards and limits count too: by the texts that they were read from.
    for (const model::InputFile& file : measurements_->files)
        identity_ += fmt::format("{} {}\n", file.role, base::hex_text(file.hash));
}

ValidateStudy::ValidateStudy(std::vector<model::Chain> chains)
    : measurements_{std::make_shared<const model::Measurements>()},
      chains_{std::make_shared<const std::vector<model::Chain>>(std::move(chains))} {
    identity_ = fmt::format("study = validate avail\nchains = {}\n", chains_->size());
    for (const model::Chain& chain : *chains_)
        identity_ += fmt::format("{} {} {}\n", chain.id, chain.variant, base::hex_text(chain.text_hash));
}

ValidateStudy::ValidateStudy(model::ServeMeasurements measurements, bool left_out)
    : measurements_{std::make_shared<const model::Measurements>()},
      chains_{std::make_shared<const std::vector<model::Chain>>()},
      serve_{std::make_shared<const model::ServeMeasurements>(std::move(measurements))} {
    if (left_out) left_out_ = validate::left_out_of(*serve_);
    identity_ =
        fmt::format("study = validate serve\nrows = {}\nleft_out = {}\n", serve_->rows.size(), left_out_.size());
    for (const model::InputFile& file : serve_->files)
        identity_ += fmt::format("{} {}\n", file.role, base::hex_text(file.hash));
}

std::vector<validate::RowResult> ValidateStudy::item(std::uint64_t index) const {
    if (!serve_->rows.empty()) {
        if (index < serve_->rows.size()) return validate::run_serve_row(serve_->rows[index], *serve_);
        return validate::run_left_out(left_out_.at(index - serve_->rows.size()), *serve_);
    }
    if (chains_->empty()) return validate::run_row(measurements_->rows.at(index), *measurements_);
    return validate::run_chain(model::Chain{chains_->at(index)});  // functions of a copy belong to this thread
}

std::optional<Round> ValidateStudy::next_round(const State& state) const {
    constexpr std::uint64_t rows_a_block = 8;
    Round round;
    round.label = "validate: rows";
    round.num_items = serve_->rows.empty() ? measurements_->rows.size() : serve_->rows.size();
    round.items_per_block = rows_a_block;
    if (!chains_->empty()) {
        round.num_items = chains_->size();
        round.items_per_block = 1;
    }
    const std::uint64_t blocks_of_rows = round.num_blocks();
    if (state.blocks < blocks_of_rows) return round;
    if (state.blocks >= blocks_of_rows + left_out_.size()) return std::nullopt;
    round.phase = round.number = 1;
    round.label = "validate: fits without the rows that they judge";
    round.num_items = left_out_.size();
    round.items_per_block = 1;
    return round;
}

ValidateStudy::Partial ValidateStudy::evaluate(const Round& round, ItemRange items, std::string_view) const {
    Partial results;
    const std::uint64_t first = round.phase == 1 ? serve_->rows.size() : 0;
    for (std::uint64_t item = items.begin; item < items.end; ++item)
        for (validate::RowResult& result : this->item(first + item)) results.push_back(std::move(result));
    return results;
}

void ValidateStudy::merge(Partial& partial, const Partial& other) const {
    partial.insert(partial.end(), other.begin(), other.end());
}

std::string ValidateStudy::pack(const Partial& partial) const {
    base::Packer packer;
    packer.put(static_cast<std::uint64_t>(partial.size()));
    for (const validate::RowResult& row : partial) {
        for (const std::string* text : {&row.id, &row.file, &row.family, &row.quantity, &row.reason})
            packer.put(std::string_view{*text});
        for (const auto* value : {&row.predicted, &row.measured, &row.low, &row.high}) put(packer, *value);
        packer.put(static_cast<std::uint8_t>(row.used_to_fit));
        put(packer, row.tolerance);
        packer.put(static_cast<std::uint8_t>(row.tolerance_is_absolute));
        packer.put(static_cast<std::uint64_t>(row.assumed.size()));
        for (const std::string& text : row.assumed) packer.put(std::string_view{text});
    }
    return std::move(packer).take();
}

ValidateStudy::Partial ValidateStudy::unpack(std::string_view bytes) const {
    base::Unpacker unpacker{bytes};
    Partial results;
    for (auto left = unpacker.get<std::uint64_t>(); left > 0; --left) {
        validate::RowResult& row = results.emplace_back();
        for (std::string* text : {&row.id, &row.file, &row.family, &row.quantity, &row.reason})
            *text = unpacker.get_text();
        for (auto* value : {&row.predicted, &row.measured, &row.low, &row.high}) *value = get(unpacker);
        row.used_to_fit = unpacker.get<std::uint8_t>() != 0;
        row.tolerance = get(unpacker);
        row.tolerance_is_absolute = unpacker.get<std::uint8_t>() != 0;
        for (auto texts = unpacker.get<std::uint64_t>(); texts > 0; --texts) row.assumed.push_back(unpacker.get_text());
    }
    return results;
}

void ValidateStudy::absorb(State& state, const Round&, std::uint64_t, const Partial& partial) const {
    state.rows.insert(state.rows.end(), partial.begin(), partial.end());
    ++state.blocks;
}

ValidateAnswer ValidateStudy::answer(const State& state) const {
    const bool serve = !serve_->rows.empty();
    return {state.rows, validate::family_errors(state.rows, serve ? serve_->limits : measurements_->limits),
            serve              ? validate::serve_figures(state.rows, *serve_)
            : chains_->empty() ? validate::train_figures(state.rows, *measurements_)
                               : std::vector<validate::Figure>{}};
}

std::vector<store::Table> ValidateStudy::tables(const State& state) const {
    return validation_tables(answer(state));
}

std::vector<store::Table> validation_tables(const ValidateAnswer& found) {
    Rows rows{validate_rows_schema()}, families{validate_families_schema()}, figures{validate_figures_schema()};
    for (const validate::RowResult& row : found.rows)
        rows.text(row.id)
            .text(row.family)
            .text(row.quantity)
            .real(number(row.predicted))
            .real(number(row.measured))
            .real(number(row.relative_error()))
            .real(number(row.low))
            .real(number(row.high))
            .integer(row.used_to_fit ? 1 : 0)
            .text(row.reason);
    for (const validate::FamilyError& family : found.families)
        families.text(family.family)
            .text(family.quantity)
            .integer(family.num_rows)
            .integer(family.num_without)
            .real(family.mean)
            .real(family.median)
            .real(family.percentile_90)
            .real(family.worst)
            .real(family.mean_not_fitted)
            .integer(family.num_not_fitted)
            .real(number(family.limit))
            .integer(family.exceeds() ? 1 : 0);
    for (const validate::Figure& figure : found.figures)
        figures.text(figure.table)
            .text(figure.name)
            .text(figure.measure)
            .real(number(figure.value))
            .integer(figure.count)
            .real(number(figure.target))
            .real(number(figure.limit))
            .integer(figure.at_least ? 1 : 0)
            .integer(figure.exceeds() ? 1 : 0);
    std::vector<store::Table> tables;
    for (Rows* table : {&rows, &families, &figures}) tables.push_back(std::move(*table).take());
    return tables;
}

}  // namespace windtunnel::study
