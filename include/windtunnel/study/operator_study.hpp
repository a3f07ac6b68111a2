#pragma once
/// Operator tables against themselves and against the roofline: an item is one column of times.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "windtunnel/study/validate_study.hpp"
#include "windtunnel/validate/operator_rows.hpp"

namespace windtunnel::study {

class OperatorStudy {
public:
    explicit OperatorStudy(model::OperatorTables tables);

    using Partial = std::vector<validate::RowResult>;
    struct State {
        std::vector<validate::RowResult> rows;
        std::uint64_t blocks = 0;
    };

    [[nodiscard]] std::string identity() const { return identity_; }
    [[nodiscard]] State start() const { return {}; }
    [[nodiscard]] std::optional<Round> next_round(const State& state) const;
    [[nodiscard]] std::string round_context(const State&, const Round&) const { return {}; }
    [[nodiscard]] Partial evaluate(const Round& round, ItemRange items, std::string_view context) const;
    void merge(Partial& partial, const Partial& other) const;
    [[nodiscard]] std::string pack(const Partial& partial) const;
    [[nodiscard]] Partial unpack(std::string_view bytes) const;
    void absorb(State& state, const Round& round, std::uint64_t block, const Partial& partial) const;
    [[nodiscard]] std::vector<store::Table> tables(const State& state) const;
    [[nodiscard]] std::vector<store::TableSchema> bulk_tables() const { return {}; }
    [[nodiscard]] std::vector<store::Table> bulk_rows(const Round&, const Partial&) const { return {}; }

    [[nodiscard]] ValidateAnswer answer(const State& state) const;

private:
    std::shared_ptr<const model::OperatorTables> tables_;
    std::vector<validate::OperatorColumn> columns_;
    std::string identity_;
};

}  // namespace windtunnel::study
