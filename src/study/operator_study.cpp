#include "windtunnel/study/operator_study.hpp"

#include <fmt/format.h>

#include "windtunnel/base/hash.hpp"
#include "windtunnel/base/pack.hpp"

namespace windtunnel::study {

OperatorStudy::OperatorStudy(model::OperatorTables tables)
    : tables_{std::make_shared<const model::OperatorTables>(std::move(tables))},
      columns_{validate::operator_columns(*tables_)} {
    identity_ = fmt::format("study = validate ops\ncolumns = {}\n", columns_.size());
    for (const model::InputFile& file : tables_->files)
        identity_ += fmt::format("{} {}\n", file.role, base::hex_text(file.hash));
}

std::optional<Round> OperatorStudy::next_round(const State& state) const {
    Round round;
    round.label = "validate: operators";
    round.num_items = columns_.size();
    if (state.blocks >= round.num_blocks()) return std::nullopt;
    return round;
}

OperatorStudy::Partial OperatorStudy::evaluate(const Round&, ItemRange items, std::string_view) const {
    Partial results;
    for (std::uint64_t item = items.begin; item < items.end; ++item)
        for (validate::RowResult& line : validate::operator_rows(*tables_, columns_.at(item)))
            results.push_back(std::move(line));
    return results;
}

void OperatorStudy::merge(Partial& partial, const Partial& other) const {
    partial.insert(partial.end(), other.begin(), other.end());
}

// Lines of operators always have both numbers and nothing else.
std::string OperatorStudy::pack(const Partial& partial) const {
    base::Packer packer;
    packer.put(static_cast<std::uint64_t>(partial.size()));
    for (const validate::RowResult& line : partial) {
        for (const std::string* text : {&line.id, &line.file, &line.family, &line.quantity})
            packer.put(std::string_view{*text});
        packer.put(line.predicted.value_or(0.0));
        packer.put(line.measured.value_or(0.0));
    }
    return std::move(packer).take();
}

OperatorStudy::Partial OperatorStudy::unpack(std::string_view bytes) const {
    base::Unpacker unpacker{bytes};
    Partial results;
    for (auto left = unpacker.get<std::uint64_t>(); left > 0; --left) {
        validate::RowResult& line = results.emplace_back();
        for (std::string* text : {&line.id, &line.file, &line.family, &line.quantity}) *text = unpacker.get_text();
        line.predicted = unpacker.get<double>();
        line.measured = unpacker.get<double>();
    }
    return results;
}

void OperatorStudy::absorb(State& state, const Round&, std::uint64_t, const Partial& partial) const {
    state.rows.insert(state.rows.end(), partial.begin(), partial.end());
    ++state.blocks;
}

ValidateAnswer OperatorStudy::answer(const State& state) const {
    return {state.rows, validate::family_errors(state.rows, {}), validate::operator_figures(state.rows, *tables_)};
}

std::vector<store::Table> OperatorStudy::tables(const State& state) const {
    return validation_tables(answer(state));
}

}  // namespace windtunnel::study
