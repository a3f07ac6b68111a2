#pragma once
/// Published measurements of inference engines, as their tables print them, and what stands beside them: models, cards,
/// calibrations and limits.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "windtunnel/model/engine.hpp"
#include "windtunnel/model/measurement.hpp"
#include "windtunnel/model/transformer.hpp"

namespace windtunnel::model {

/// What a table measures. Each kind has its columns (input/serve_records.cpp).
enum class ServeTable {
    silicon,       ///< closed loop at a fixed concurrency, one pool or split: mean TTFT and TPOT
    offline,       ///< all requests at once: output tokens/s
    static_batch,  ///< one batch of equal requests: latency
    step,          ///< one step of a model
    server,        ///< Poisson arrivals under limits, and the offline rate of the same system
    long_context,  ///< closed loop with long prompts: P50 of TTFT and TPOT
    point,         ///< a published point
};

/// One row: its cells by column name; an absent column or an empty cell is not printed.
struct ServeRow {
    std::string id;
    std::string file;  ///< name without folder and ending
    int line = 0;
    ServeTable table = ServeTable::silicon;
    bool shipped = true;
    std::map<std::string, std::string> cells;

    [[nodiscard]] const std::string& text(const std::string& column) const;
    [[nodiscard]] std::optional<double> number(const std::string& column) const;
    [[nodiscard]] int integer(const std::string& column, int otherwise) const;
    /// Name of the model, of the card and of the numbers, under the column that the table has for it.
    [[nodiscard]] const std::string& model_name() const;
    [[nodiscard]] const std::string& hardware() const;
    [[nodiscard]] const std::string& dtype() const;
    [[nodiscard]] const std::string& engine() const;
};

/// FNV-1a, 64 bit, of `model|system or hardware|precision or dtype|isl|osl|tp|pp|ep`: cells as printed, absent ones
/// empty.
[[nodiscard]] std::uint64_t serve_fit_hash(const ServeRow& row);
/// Shipped rows below 4 modulo 10 may be used to fit.
[[nodiscard]] inline bool used_to_fit(const ServeRow& row) {
    return row.shipped && serve_fit_hash(row) % 10 < 4;
}
/// Fold of the unseen models: FNV-1a of the model's name modulo 5.
[[nodiscard]] int model_fold(const std::string& model);

/// Which set of shares stands for a row; the first rule that matches is taken, empty lists match all. And how the set
/// is fitted: from the set of another rule or from the defaults, on the rows that match and may be used.
struct EngineRule {
    std::string name;
    std::vector<std::string> files, engines, accelerators, ids;
    std::optional<bool> moe;
    std::string start;                    ///< name of the rule whose set is the start; empty: the defaults
    std::vector<std::string> parameters;  ///< that the fit moves
    double prior_weight = 0.1;            ///< of the squared logarithm of moved over start
    bool every_row = false;               ///< fitted on all of its rows and judged with one row left out
    EngineEfficiency efficiency;
};

/// Rows of a source that are scored apart, with the reason.
struct SetAside {
    std::string engine, version, accelerator;  ///< empty: any
    std::string reason;
};

/// Encoder of pictures in front of a model.
struct VisionTower {
    int layers = 0, hidden = 0, ffn = 0;
    int patch = 14;  ///< pixels of an edge
};

struct ServeMeasurements {
    std::vector<ServeRow> rows;
    std::map<std::string, Transformer> models;  ///< by the name that rows use
    std::map<std::string, std::string> notes;   ///< by the same name: how the model is described where it is a stand-in
    std::map<std::string, VisionTower> vision;  ///< by the same name
    std::map<std::string, Accelerator> accelerators;
    std::map<std::string, std::string> aliases;
    std::vector<EngineRule> rules;
    std::vector<SetAside> set_aside;
    std::vector<FamilyLimit> limits;
    std::vector<FigureLimit> figure_limits;
    std::vector<InputFile> files;
};

}  // namespace windtunnel::model
