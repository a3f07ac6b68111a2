#pragma once
/// Measured times of operators, as their sources print them, and what of an operator they depend on.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "windtunnel/base/quantity.hpp"
#include "windtunnel/model/plan.hpp"

namespace windtunnel::model {

enum class OperatorClass { gemm, grouped_gemm, attention, latent_attention, vector, collective, all_to_all, phase };

/// One factor of a cost term: a column to a power, or the waves of 128 x 128 tiles of an m x n product on the cores.
struct TermFactor {
    static constexpr int waves = -1;
    int column = 0;  ///< index into axes, then covariates; `waves`
    double power = 1.0;
};

/// How a table is read: which columns name the operator, which are numbers that its time varies with, which are times.
///
/// `axes` form a grid: interpolation goes along them, and a point inside counts when it is left out. `covariates` are
/// numbers too, but no grid (a load that was drawn). `terms` are products of columns whose sum, with factors >= 0, is
/// the trend of the time: traffic, work, start-up. `scales` say over how many doublings of a column the deviation from
/// the trend stays alike; `noise` and `roughness` how much of it no neighbour tells.
struct OperatorTableShape {
    std::string name;    ///< operator, unique
    std::string family;  ///< name of its file: errors are averaged by it
    OperatorClass kind = OperatorClass::gemm;
    std::vector<std::string> keys, axes, covariates, quantities;
    std::vector<std::vector<TermFactor>> terms;
    std::vector<double> scales;  ///< of axes and covariates, doublings, > 0; empty: 3 each
    double noise = 1e-3;
    double roughness = 0.0;
    double unit = 1e-6;                               ///< seconds of one unit of the quantities
    bool judged = true;                               ///< false: its error is printed, no limit is laid on it
    std::map<std::string, double> cores;              ///< by the value of a key: cores of the card, for waves
    std::map<std::string, std::string> accelerators;  ///< by the value of a key: the card's id
    std::string source, licence, note;
};

struct OperatorRow {
    int line = 0;
    std::vector<std::string> key;             ///< as shape.keys
    std::vector<double> at;                   ///< as shape.axes, then covariates
    std::vector<std::optional<double>> time;  ///< seconds, as shape.quantities; empty: not measured
};

struct OperatorTable {
    OperatorTableShape shape;
    std::string path;
    std::vector<OperatorRow> rows;
};

/// Largest allowed error of the points left out of a file's tables.
struct OperatorLimit {
    std::string family;
    double median = 0.0, percentile_90 = 0.0;
};

struct OperatorTables {
    std::vector<OperatorTable> tables;
    std::vector<OperatorLimit> limits;
    std::map<std::string, Accelerator> accelerators;  ///< by id: the cards that the tables name
    std::vector<InputFile> files;                     ///< what was read: part of what a run is
    [[nodiscard]] const OperatorTable* find(const std::string& name) const noexcept {
        for (const OperatorTable& table : tables)
            if (table.shape.name == name) return &table;
        return nullptr;
    }
};

}  // namespace windtunnel::model
