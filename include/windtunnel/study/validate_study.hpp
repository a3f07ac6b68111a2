#pragma once
/// Published training rows, or chains with known answers: prediction beside measurement, an item each.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "windtunnel/study/study.hpp"
#include "windtunnel/validate/chain_rows.hpp"
#include "windtunnel/validate/engine_fit.hpp"
#include "windtunnel/validate/serve_figures.hpp"
#include "windtunnel/validate/train_rows.hpp"
#include "windtunnel/validate/train_tables.hpp"

namespace windtunnel::study {

struct ValidateAnswer {
    std::vector<validate::RowResult> rows;
    std::vector<validate::FamilyError> families;
    std::vector<validate::Figure> figures;
    [[nodiscard]] bool within_limits() const noexcept {
        for (const validate::FamilyError& family : families)
            if (family.exceeds()) return false;
        for (const validate::Figure& figure : figures)
            if (figure.exceeds()) return false;
        return true;
    }
};

/// The answer as the tables of a result file.
[[nodiscard]] std::vector<store::Table> validation_tables(const ValidateAnswer& found);

class ValidateStudy {
public:
    explicit ValidateStudy(model::Measurements measurements);
    explicit ValidateStudy(std::vector<model::Chain> chains);
    /// Rows of inference engines; with `left_out` also the fits without a fifth of the models, or without a row.
    ValidateStudy(model::ServeMeasurements measurements, bool left_out);

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
    [[nodiscard]] std::vector<validate::RowResult> item(std::uint64_t index) const;

    std::shared_ptr<const model::Measurements> measurements_;
    std::shared_ptr<const std::vector<model::Chain>> chains_;  ///< instead of measured rows, where there are any
    std::shared_ptr<const model::ServeMeasurements> serve_ = std::make_shared<const model::ServeMeasurements>();
    std::vector<validate::LeftOut> left_out_;
    std::string identity_;
};

}  // namespace windtunnel::study
