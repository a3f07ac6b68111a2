#pragma once
/// Published measurements of training runs, as their sources print them. Absent = not printed: nothing is filled in
/// here.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "windtunnel/model/cross_check.hpp"
#include "windtunnel/model/efficiency.hpp"
#include "windtunnel/model/fit_record.hpp"
#include "windtunnel/model/hardware.hpp"
#include "windtunnel/model/layout.hpp"
#include "windtunnel/model/plan.hpp"

namespace windtunnel::model {

struct PublishedExperts {
    int num_routed = 0, top_k = 0, ffn = 0;
    int num_shared = 0;
    std::optional<int> shared_ffn;  ///< of all shared experts together
    int num_dense_layers = 0;       ///< leading layers without experts
    int layer_step = 1;             ///< every n-th layer has experts
};

struct PublishedLatentAttention {
    int q_lora_rank = 0, kv_lora_rank = 0, qk_nope_head_dim = 0, qk_rope_head_dim = 0, v_head_dim = 0;
};

/// One row of a published table.
struct PublishedRow {
    std::string id;
    std::string file;  ///< name of its file without folder and ending
    int line = 0;
    bool shipped = true;       ///< false: a row of the user's own, which no fit has seen
    bool of_the_user = false;  ///< read from a file of the user's own, shipped or not

    std::string model;
    std::optional<int> hidden, layers, heads, kv_heads, head_dim, ffn, vocabulary, sequence;
    std::optional<bool> gated_mlp;
    bool learned_positions = false;
    std::optional<PublishedExperts> experts;
    std::optional<PublishedLatentAttention> latent_attention;
    int mtp_layers = 0;
    std::string attention_note;

    std::string accelerator;
    std::optional<int> cards, cards_per_node;
    std::string dtype;

    std::optional<int> tp, pp, vpp, dp, cp, ep, etp, mbs;
    std::optional<std::int64_t> gbs;
    std::optional<std::string> recompute, schedule, overlap;
    std::optional<int> zero;
    std::optional<int> zero_group;  ///< ranks that share the states; absent: all of the data-parallel group
    std::optional<bool> fsdp, sequence_parallel;

    std::optional<double> step_time_s, tflops_per_card, mfu, hfu, tokens_per_s, tokens_per_s_per_card;
    std::optional<double> memory_gb, memory_gib;
    std::optional<double> memory_states_gib, memory_activations_gib;  ///< parts, where the source splits them
    std::optional<bool> oom;
    std::optional<double> derived_step_time_s;  ///< computed from the row's own figures by whoever made the table
    std::string derived_from;
    std::optional<double> linearity;  ///< throughput per card relative to `linearity_base` cards
    std::optional<int> linearity_base;

    std::string phase;  ///< pretrain, sft, lora; empty: not said
    std::string source, basis, confidence, note, kind, software, release;
};

/// FNV-1a, 64 bit, of `model|seq|accelerator|cards|dtype|tp|pp|cp|ep|mbs|gbs`: an absent number is empty, but cp and ep
/// are 1.
[[nodiscard]] std::uint64_t fit_hash(const PublishedRow& row);

/// Shipped rows below 4 modulo 10 may be used to fit; the others only judge.
[[nodiscard]] inline bool used_to_fit(const PublishedRow& row) {
    return row.shipped && fit_hash(row) % 10 < 4;
}

/// What is assumed of a file or software family where its rows print nothing; each value has its reason in the file.
struct RowDefaults {
    std::optional<std::string> recompute;  ///< none, selective, full
    std::optional<int> micro_batch_size;
    std::optional<bool> no_accumulation;  ///< the micro-batch is the whole batch of a data-parallel rank
    std::optional<int> virtual_pipeline;
    std::optional<int> layers_per_chunk;  ///< of a pipeline whose model chunks are not printed, where layers divide
    std::optional<int> optimizer_sharding;
    std::optional<bool> sequence_parallel;
    std::optional<bool> expert_tensor_is_tensor;  ///< etp = tp, else 1
    std::optional<bool> flash_attention;
    std::optional<bool> fused_operators;
    std::optional<bool> tied_embeddings;
    std::optional<bool> biases;
    std::optional<std::string> pipeline_split;  ///< for layers that do not divide: slots, short_last
    std::optional<Precision> gradient_precision;
    std::optional<bool> fp16_gradients;       ///< rows in fp16 keep and exchange gradients in fp16
    std::optional<BytesPerSecond> scale_out;  ///< per card and direction, where the site differs from the data sheet
    std::optional<std::string> flops_definition;  ///< of printed TFLOP/s and MFU: hardware, full, causal
    std::optional<std::string> memory_kind;       ///< allocated, reserved, device, formula
};

/// The ids of a file name the release of the software: four digits, year and month, behind `behind`.
struct ReleaseRule {
    std::string file, behind;
};

/// Sliding windows, which the printed dimensions leave out.
struct WindowRule {
    std::string model;  ///< the row's model name begins with this
    int window = 0;     ///< tokens
    int every = 1;      ///< one layer of so many has the window
};

/// Models whose structure the printed dimensions do not describe.
struct UnsupportedModel {
    std::string model;  ///< the row's model name begins with this
    std::string reason;
};

/// Which efficiencies stand for a row. The first rule that matches is taken; empty lists match all.
struct CalibrationRule {
    std::string name;
    std::vector<std::string> files, software, accelerators, dtypes;
    std::optional<bool> moe;
    Efficiency efficiency;
    FitRecord record;
};

/// How one set of efficiencies is fitted. Rows: those that a calibration rule gives to the set and whose software is in
/// the list.
struct FitSet {
    std::string name;    ///< of the set: its file without folder and ending
    std::string about;   ///< one line for the head of its file
    std::string parent;  ///< set whose values are the priors; empty: the priors of the parameters
    std::vector<std::string> software;
    std::vector<std::string> free;           ///< keys of the values that may move
    bool releases = false;                   ///< a factor for each release with enough rows
    std::string models;                      ///< any, dense, moe
    std::optional<double> gemm_prior_ratio;  ///< prior of `gemm` relative to the parent's
};

/// Step time of a row when its source file was left out of the fit, and with it at that time.
struct LeftOutPrediction {
    double left_out_s = 0.0, reported_s = 0.0;
};

struct FamilyLimit {
    std::string family, quantity;
    double mean = 0.0;  ///< largest allowed mean absolute relative error; for `oom`: share of wrong verdicts
};

/// Limit of one figure of the tables over all rows (validate/train_tables.hpp).
struct FigureLimit {
    std::string table, name, measure;
    std::optional<double> target;  ///< what the project wants
    std::optional<double> limit;   ///< what fails
    bool at_least = false;
};

/// Everything that turns rows into jobs.
struct Measurements {
    std::vector<PublishedRow> rows;
    std::map<std::string, Accelerator> accelerators;   ///< by id
    std::map<std::string, std::string> aliases;        ///< hardware string of a row -> accelerator id
    std::map<std::string, RowDefaults> file_defaults;  ///< by PublishedRow::file, or file/software
    std::map<std::string, RowDefaults> software_defaults;
    std::vector<ReleaseRule> releases;
    std::vector<WindowRule> windows;
    std::vector<UnsupportedModel> unsupported;
    std::vector<CalibrationRule> calibrations;
    std::vector<FamilyLimit> limits;
    std::vector<FigureLimit> figure_limits;
    std::map<std::string, std::string> doubtful;  ///< id of a row whose printed memory its own table contradicts -> why
    CrossChecks cross_checks;
    std::vector<FitSet> fit_sets;                       ///< parents before children
    std::map<std::string, LeftOutPrediction> left_out;  ///< by file/id
    std::vector<InputFile> files;  ///< all that was read: rows, defaults, calibrations, limits, cards
};

}  // namespace windtunnel::model
