#pragma once
/// Efficiencies of cards and software families from measured steps. Rounds: for each generation of sets (parents first)
/// the starts, then the values that the rows need; then folds and resamples of every set; then each source left out.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "windtunnel/calibrate/step_fit.hpp"
#include "windtunnel/model/measurement.hpp"
#include "windtunnel/study/study.hpp"

namespace windtunnel::study {

struct CalibrateOptions {
    std::vector<std::string> sets;  ///< only these; empty: all of the fit file
    std::uint64_t starts = 6, folds = 5, resamples = 100, seed = 1;
    bool leave_one_source_out = false;
    bool all_rows = false;  ///< fit to every row, not only to those below 4 modulo 10
    /// One set of its own from all rows, with these priors; its software list is not looked at.
    std::optional<model::FitSet> own_set;
    store::Table history;  ///< versions of an earlier result file; may have no columns
};

struct SetAnswer {
    model::FitSet spec;
    model::Efficiency efficiency;  ///< with the ranges of the rows behind it
    model::FitRecord record;
    std::string version;
    int num_fitted_rows = 0, num_judging_rows = 0;
    double error_fitted = 0.0, error_judging = 0.0;  ///< mean |predicted / measured - 1|
    double error_held_out = 0.0;                     ///< the same of the folds: rows of the fit that a fit has not seen
    calibrate::Drift drift;                          ///< of ln(predicted / measured), rows in the order of their files
};

struct LeftOutRow {
    std::string source, id;
    double left_out_s = 0.0, reported_s = 0.0, measured_s = 0.0;
    bool used = false;
};

struct CalibrateAnswer {
    std::vector<SetAnswer> sets;
    std::vector<LeftOutRow> left_out;  ///< sorted by source, in row order
    int num_fitted_values = 0;
};

class CalibrateStudy {
public:
    /// Throws base::InputError: unknown sets, parameters or parents, no rows.
    CalibrateStudy(const model::Measurements& measurements, CalibrateOptions options);

    /// What one item gives.
    struct Record {
        std::uint32_t set = 0;
        std::uint64_t number = 0;
        std::vector<std::string> names;
        std::vector<double> values, numbers;
        double objective = 0.0;
    };
    using Partial = std::vector<Record>;
    struct State {
        std::uint32_t round = 0;          ///< that runs
        std::uint64_t blocks = 0;         ///< of it that are absorbed
        std::vector<Record> best, final;  ///< one a set; objective infinite: not there
        std::vector<Record> samples, sources;
    };

    [[nodiscard]] std::string identity() const { return identity_; }
    [[nodiscard]] State start() const;
    [[nodiscard]] std::optional<Round> next_round(const State& state) const;
    [[nodiscard]] std::string round_context(const State& state, const Round& round) const;
    [[nodiscard]] Partial evaluate(const Round& round, ItemRange items, std::string_view context) const;
    void merge(Partial& partial, const Partial& other) const;
    [[nodiscard]] std::string pack(const Partial& partial) const;
    [[nodiscard]] Partial unpack(std::string_view bytes) const;
    void absorb(State& state, const Round& round, std::uint64_t block, const Partial& partial) const;
    [[nodiscard]] std::vector<store::Table> tables(const State& state) const;
    [[nodiscard]] std::vector<store::TableSchema> bulk_tables() const { return {}; }
    [[nodiscard]] std::vector<store::Table> bulk_rows(const Round&, const Partial&) const { return {}; }

    [[nodiscard]] CalibrateAnswer answer(const State& state) const;

private:
    struct Set {
        model::FitSet spec;
        calibrate::StepSet steps;
        std::optional<std::uint32_t> parent;           ///< refitted here
        std::optional<model::Efficiency> kept;         ///< the shipped set of this name: memory, earlier version
        std::optional<model::Efficiency> kept_parent;  ///< the shipped parent, where it is not refitted
        std::uint32_t generation = 0;
    };
    [[nodiscard]] model::Efficiency base_of(std::uint32_t set, const std::vector<Record>& final) const;
    [[nodiscard]] model::Efficiency efficiency_of(std::uint32_t set, const std::vector<Record>& final) const;
    [[nodiscard]] Record start_item(std::uint32_t set, std::uint64_t number, const std::vector<Record>& final) const;
    [[nodiscard]] Record needed_item(std::uint32_t set, const std::vector<Record>& best,
                                     const std::vector<Record>& final) const;
    [[nodiscard]] Record sample_item(std::uint32_t set, std::uint64_t number, const std::vector<Record>& final) const;
    [[nodiscard]] Partial source_item(std::uint64_t number, const std::vector<Record>& final) const;
    [[nodiscard]] std::vector<std::uint32_t> generation_sets(std::uint32_t generation) const;
    [[nodiscard]] std::uint32_t num_generations() const;
    [[nodiscard]] std::vector<double> held_out(std::uint32_t set, const State& state) const;
    void add_set(const model::Measurements& measurements, const model::FitSet& spec);
    void add_rows(const model::Measurements& measurements);
    [[nodiscard]] SetAnswer set_answer(std::uint32_t set, const State& state) const;

    CalibrateOptions options_;
    std::shared_ptr<std::vector<Set>> sets_;  ///< parents before children; not changed after the constructor
    std::vector<std::string> sources_;
    std::string identity_;
};

}  // namespace windtunnel::study
