#include "windtunnel/input/records.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace windtunnel::input {
namespace {

using Json = nlohmann::json;

/// Reads fields of one record and collects what is wrong with them.
class RecordReader {
public:
    RecordReader(const Json& record, std::string path, int line, std::vector<base::Finding>& findings)
        : record_{record}, path_{std::move(path)}, line_{line}, findings_{findings} {}

    /// The object `name` of the record, or an empty one.
    [[nodiscard]] const Json& object(const char* name) {
        static const Json empty = Json::object();
        const auto found = record_.find(name);
        if (found == record_.end() || found->is_null()) return empty;
        if (!found->is_object()) {
            add(name, "is not an object");
            return empty;
        }
        return *found;
    }
    template <class Integer>
    void integer(const Json& object, const char* key, std::optional<Integer>& value, Integer least = 1) {
        const Json* field = present(object, key);
        if (field == nullptr) return;
        constexpr double most = sizeof(Integer) > 4 ? 1e15 : 2e9;
        const bool whole = field->is_number() && std::floor(field->get<double>()) == field->get<double>();
        if (!whole || field->get<double>() < static_cast<double>(least) || field->get<double>() > most)
            add(key, "is not an integer from " + std::to_string(least) + " on: " + field->dump().substr(0, 40));
        else
            value = static_cast<Integer>(field->get<double>());
    }
    void integer(const Json& object, const char* key, int& value) {
        std::optional<int> read;
        integer(object, key, read, 0);
        if (read) value = *read;
    }
    void number(const Json& object, const char* key, std::optional<double>& value) {
        const Json* field = present(object, key);
        if (field == nullptr) return;
        if (!field->is_number() || !std::isfinite(field->get<double>()) || field->get<double>() <= 0.0)
            add(key, "is not a number above 0: " + field->dump().substr(0, 40));
        else
            value = field->get<double>();
    }
    void boolean(const Json& object, const char* key, std::optional<bool>& value) {
        const Json* field = present(object, key);
        if (field == nullptr) return;
        if (!field->is_boolean())
            add(key, "is neither true nor false: " + field->dump().substr(0, 40));
        else
            value = field->get<bool>();
    }
    void text(const Json& object, const char* key, std::optional<std::string>& value) {
        const Json* field = present(object, key);
        if (field == nullptr) return;
        if (!field->is_string())
            add(key, "is not text: " + field->dump().substr(0, 40));
        else
            value = field->get<std::string>();
    }
    void text(const Json& object, const char* key, std::string& value) {
        std::optional<std::string> read;
        text(object, key, read);
        if (read) value = std::move(*read);
    }
    void add(const char* key, const std::string& message) { findings_.push_back({path_, line_, 0, key, message, {}}); }

private:
    [[nodiscard]] static const Json* present(const Json& object, const char* key) {
        const auto found = object.find(key);
        return found == object.end() || found->is_null() ? nullptr : &*found;
    }
    const Json& record_;
    std::string path_;
    int line_;
    std::vector<base::Finding>& findings_;
};

void read_model(RecordReader& reader, model::PublishedRow& row) {
    const Json& object = reader.object("model");
    reader.text(object, "name", row.model);
    reader.integer(object, "hidden", row.hidden);
    reader.integer(object, "layers", row.layers);
    reader.integer(object, "heads", row.heads);
    reader.integer(object, "kv_heads", row.kv_heads);
    reader.integer(object, "head_dim", row.head_dim);
    reader.integer(object, "ffn", row.ffn);
    reader.boolean(object, "gated_mlp", row.gated_mlp);
    reader.integer(object, "vocab", row.vocabulary);
    reader.integer(object, "seq", row.sequence);
    reader.integer(object, "mtp", row.mtp_layers);
    reader.text(object, "attn_note", row.attention_note);
    std::optional<bool> learned;
    reader.boolean(object, "learned_pos_emb", learned);
    row.learned_positions = learned.value_or(false);
    if (const auto moe = object.find("moe"); moe != object.end() && moe->is_object()) {
        model::PublishedExperts experts;
        reader.integer(*moe, "experts", experts.num_routed);
        reader.integer(*moe, "top_k", experts.top_k);
        reader.integer(*moe, "moe_ffn", experts.ffn);
        reader.integer(*moe, "shared_experts", experts.num_shared);
        reader.integer(*moe, "shared_ffn", experts.shared_ffn, 0);
        reader.integer(*moe, "first_dense", experts.num_dense_layers);
        reader.integer(*moe, "moe_layer_freq", experts.layer_step);
        row.experts = experts;
    }
    if (const auto mla = object.find("mla"); mla != object.end() && mla->is_object()) {
        model::PublishedLatentAttention latent;
        reader.integer(*mla, "q_lora", latent.q_lora_rank);
        reader.integer(*mla, "kv_lora", latent.kv_lora_rank);
        reader.integer(*mla, "qk_nope", latent.qk_nope_head_dim);
        reader.integer(*mla, "qk_rope", latent.qk_rope_head_dim);
        reader.integer(*mla, "v", latent.v_head_dim);
        row.latent_attention = latent;
    }
}

void read_layout(RecordReader& reader, model::PublishedRow& row) {
    const Json& hardware = reader.object("hardware");
    reader.text(hardware, "name", row.accelerator);
    reader.integer(hardware, "cards", row.cards);
    reader.integer(hardware, "cards_per_node", row.cards_per_node);
    reader.text(hardware, "dtype", row.dtype);
    const Json& parallel = reader.object("parallel");
    reader.integer(parallel, "tp", row.tp);
    reader.integer(parallel, "pp", row.pp);
    reader.integer(parallel, "vpp", row.vpp);
    reader.integer(parallel, "dp", row.dp);
    reader.integer(parallel, "cp", row.cp);
    reader.integer(parallel, "ep", row.ep);
    reader.integer(parallel, "etp", row.etp);
    reader.integer(parallel, "mbs", row.mbs);
    reader.integer(parallel, "gbs", row.gbs, std::int64_t{1});
    reader.text(parallel, "recompute", row.recompute);
    reader.text(parallel, "schedule", row.schedule);
    reader.text(parallel, "overlap", row.overlap);
    reader.integer(parallel, "zero", row.zero, 0);
    reader.boolean(parallel, "fsdp", row.fsdp);
    reader.boolean(parallel, "sp", row.sequence_parallel);
}

void read_results(RecordReader& reader, const Json& record, model::PublishedRow& row) {
    const Json& measured = reader.object("measured");
    reader.number(measured, "step_time_s", row.step_time_s);
    reader.number(measured, "tflops_per_card", row.tflops_per_card);
    reader.number(measured, "mfu", row.mfu);
    reader.number(measured, "hfu", row.hfu);
    reader.number(measured, "tokens_per_s", row.tokens_per_s);
    reader.number(measured, "tokens_per_s_per_card", row.tokens_per_s_per_card);
    reader.number(measured, "memory_gb", row.memory_gb);
    reader.number(measured, "memory_gib", row.memory_gib);
    reader.boolean(measured, "oom", row.oom);
    const Json& derived = reader.object("derived");
    reader.number(derived, "step_time_s", row.derived_step_time_s);
    reader.text(derived, "step_time_from", row.derived_from);
    const Json& parts = reader.object("memory_parts_gib");
    reader.number(parts, "par_opt", row.memory_states_gib);
    reader.number(parts, "act", row.memory_activations_gib);
    reader.number(record, "linearity", row.linearity);
    reader.integer(record, "linearity_base_cards", row.linearity_base);
    reader.integer(record, "zero_group", row.zero_group);
    reader.text(record, "phase", row.phase);
    reader.text(record, "source", row.source);
    reader.text(record, "basis", row.basis);
    reader.text(record, "confidence", row.confidence);
    reader.text(record, "note", row.note);
    reader.text(record, "kind", row.kind);
    reader.text(record, "software", row.software);
    reader.text(record, "release", row.release);
}

int lines_between(const std::string& text, std::size_t begin, std::size_t end) {
    const std::size_t stop = std::min(end, text.size());
    const auto first = text.begin() + static_cast<std::ptrdiff_t>(std::min(begin, stop));
    return static_cast<int>(std::count(first, text.begin() + static_cast<std::ptrdiff_t>(stop), '\n'));
}

}  // namespace

std::vector<model::PublishedRow> parse_records(const std::string& text, const std::string& path,
                                               std::vector<base::Finding>& findings) {
    std::vector<model::PublishedRow> rows;
    Json document;
    try {
        document = Json::parse(text);
    } catch (const Json::parse_error& error) {
        findings.push_back({path,
                            1 + lines_between(text, 0, error.byte),
                            0,
                            {},
                            "is not JSON",
                            "a record file, see docs/validation.md"});
        return rows;
    } catch (const Json::exception&) {  // out of range: thrown without a place
        findings.push_back(
            {path, 0, 0, {}, "a number is too large to be read", "a record file, see docs/validation.md"});
        return rows;
    }
    const auto records = document.is_object() ? document.find("records") : document.end();
    if (!document.is_object() || records == document.end() || !records->is_array()) {
        findings.push_back({path, 0, 0, "records", "is missing", "an object with an array of records"});
        return rows;
    }
    if (records->empty()) findings.push_back({path, 0, 0, "records", "is empty", "at least one record"});
    std::set<std::string> ids;
    std::size_t position = 0;
    int line = 1;
    for (const Json& record : *records) {
        model::PublishedRow row;
        row.file = std::filesystem::path{path}.stem().string();
        const auto id = record.is_object() ? record.find("id") : record.end();
        if (!record.is_object() || id == record.end() || !id->is_string()) {
            findings.push_back({path, 0, 0, "records", "a record has no id", "an object with a text \"id\""});
            continue;
        }
        row.id = id->get<std::string>();
        if (const std::size_t found = text.find(id->dump(), position); found != std::string::npos) {
            line += lines_between(text, position, found);
            row.line = line;
            position = found + 1;
        }
        const std::size_t before = findings.size();
        RecordReader reader{record, path, row.line, findings};
        if (!ids.insert(row.id).second) reader.add("id", "\"" + row.id + "\" stands twice");
        read_model(reader, row);
        read_layout(reader, row);
        read_results(reader, record, row);
        if (findings.size() == before) rows.push_back(std::move(row));
    }
    return rows;
}

std::vector<model::PublishedRow> read_records(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    if (!file || std::filesystem::is_directory(path))
        throw base::InputError{{{path, 0, 0, {}, "cannot be read", "a file of measurement records (JSON)"}}};
    std::ostringstream text;
    text << file.rdbuf();
    std::vector<base::Finding> findings;
    auto rows = parse_records(text.str(), path, findings);
    if (!findings.empty()) throw base::InputError{std::move(findings)};
    return rows;
}

}  // namespace windtunnel::input
