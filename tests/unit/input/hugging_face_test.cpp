#include "windtunnel/input/hugging_face.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "windtunnel/input/read.hpp"

namespace windtunnel::input {
namespace {

const std::string source_dir = WINDTUNNEL_SOURCE_DIR;

struct Published {
    std::string name;
    std::int64_t total = 0, kv = 0;
    bool positions = false;  ///< the published total counts the table of learned positions
};

/// Rows "name,total,...,kv" of a table of published totals; the last column may be empty.
std::vector<Published> published(const std::string& path, int kv_column) {
    std::ifstream file{path};
    std::vector<Published> rows;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line[0] == '#' || line.find("total_params") != std::string::npos) continue;
        std::istringstream cells{line};
        std::vector<std::string> cell;
        for (std::string text; std::getline(cells, text, ',');) cell.push_back(text);
        const auto kv = static_cast<std::size_t>(kv_column);
        rows.push_back({cell[0], std::stoll(cell[1]), cell.size() > kv && !cell[kv].empty() ? std::stoll(cell[kv]) : 0,
                        cell.size() > kv + 1 && cell[kv + 1] == "1"});
    }
    return rows;
}

void expect_published(const model::Transformer& model, const Published& row) {
    const model::ParameterCount count = model::parameter_count(model);
    const double total = static_cast<double>(count.total() + (row.positions ? count.positions : 0));
    EXPECT_NEAR(total, static_cast<double>(row.total), 1e-3 * static_cast<double>(row.total)) << row.name;
    if (row.kv > 0) {
        EXPECT_EQ(model::kv_elements_per_token(model), row.kv) << row.name;
    }
}

TEST(HuggingFace, EveryFamilyGivesItsPublishedTotal) {
    const std::string folder = source_dir + "/tests/input/hugging_face/";
    const auto rows = published(folder + "expected.csv", 2);
    ASSERT_GE(rows.size(), 25u);
    for (const Published& row : rows) expect_published(read_model(folder + row.name), row);
}

TEST(ShippedModels, ParameterCountsEqualThePublishedChecks) {
    const auto rows = published(source_dir + "/tests/unit/input/data/parameter_totals.csv", 3);
    ASSERT_GE(rows.size(), 90u);
    for (const Published& row : rows)
        expect_published(read_model(source_dir + "/inputs/models/" + row.name + ".toml"), row);
}

TEST(HuggingFace, AFileOrItsFolderGiveTheSameModel) {
    const std::string folder = source_dir + "/tests/input/hugging_face/llama3-8b";
    EXPECT_EQ(read_model(folder).num_layers, read_model(folder + "/config.json").num_layers);
}

TEST(HuggingFace, StructureComesAcross) {
    const std::string folder = source_dir + "/tests/input/hugging_face/";
    const model::Transformer deepseek = read_model(folder + "deepseek-v3");
    EXPECT_EQ(deepseek.num_dense_layers, 3);
    EXPECT_EQ(deepseek.num_mtp_layers, 1);
    EXPECT_EQ(deepseek.attention.kind, model::AttentionKind::mla);
    EXPECT_EQ(read_model(folder + "deepseek-v2-lite").attention.q_lora_rank, 0);
    EXPECT_EQ(read_model(folder + "falcon-7b").attention.kind, model::AttentionKind::mqa);
    EXPECT_EQ(read_model(folder + "gpt2-xl").learned_positions, 1024);
    EXPECT_TRUE(read_model(folder + "gpt2-xl").tied_embeddings);
    EXPECT_EQ(read_model(folder + "mpt-7b").learned_positions, 0);  // ALiBi wins over learned_pos_emb
    EXPECT_EQ(read_model(folder + "gpt-oss-120b").attention.num_sliding_layers, 18);
    EXPECT_EQ(read_model(folder + "gemma3-12b").attention.num_sliding_layers, 40);
    EXPECT_EQ(read_model(folder + "qwen2-7b").attention.sliding_window, 0);  // use_sliding_window is false
    EXPECT_EQ(read_model(folder + "llama4-maverick").num_moe_layers(), 24);
}

std::vector<base::Finding> findings_of(const std::string& text) {
    std::vector<base::Finding> findings;
    (void)read_hugging_face(text, "config.json", findings);
    return findings;
}

TEST(HuggingFace, AnUnknownArchitectureIsAnErrorThatNamesTheNearest) {
    const auto findings = findings_of("{\n  \"model_type\": \"lama\",\n  \"hidden_size\": 4096\n}");
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].line, 2);
    EXPECT_NE(findings[0].expected.find("the nearest is llama"), std::string::npos);
    EXPECT_EQ(findings_of("{\"hidden_size\": 4096}").size(), 1u);
}

TEST(HuggingFace, LayersThatAreNotModelledAreAnError) {
    const auto findings = findings_of(R"({"model_type": "qwen3_next", "hidden_size": 2048})");
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_NE(findings[0].message.find("linear attention"), std::string::npos);
}

TEST(HuggingFace, EveryMissingOrWrongKeyIsFoundAtOnce) {
    const auto findings = findings_of(
        "{\"model_type\": \"llama\", \"hidden_size\": -1, \"num_hidden_layers\": 1e99,\n"
        " \"vocab_size\": \"many\", \"num_attention_heads\": 3, \"hidden_act\": \"tanh\"}");
    // hidden_size, num_hidden_layers, vocab_size, hidden_act, intermediate_size missing; no rule with the wrong size
    EXPECT_EQ(findings.size(), 5u);
}

TEST(HuggingFace, RulesBetweenValuesNameTheNearestChoices) {
    const auto findings = findings_of(
        R"({"model_type": "llama", "hidden_size": 4000, "num_hidden_layers": 2, "vocab_size": 1000,
            "num_attention_heads": 48, "num_key_value_heads": 5, "intermediate_size": 4096})");
    ASSERT_EQ(findings.size(), 2u);
    EXPECT_EQ(findings[0].message, "48 heads do not divide hidden size 4000 and there is no head_dim");
    EXPECT_EQ(findings[0].expected, "head_dim, or nearest: 32, 40, 50");
    EXPECT_EQ(findings[1].message, "5 key/value heads do not divide 48 heads");
    EXPECT_EQ(findings[1].expected, "nearest: 3, 4, 6");
}

TEST(HuggingFace, BrokenJsonNamesLineAndColumn) {
    const auto findings = findings_of("{\n \"model_type\": llama\n}");
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].line, 2);
    EXPECT_FALSE(findings_of("[1, 2]").empty());
    EXPECT_FALSE(findings_of("").empty());
}

TEST(HuggingFace, ADenseLayerBehindTheFirstMoeLayerIsFound) {
    const auto findings = findings_of(
        R"({"model_type": "qwen3_moe", "hidden_size": 2048, "num_hidden_layers": 4, "vocab_size": 1000,
            "num_attention_heads": 16, "intermediate_size": 4096, "moe_intermediate_size": 512, "num_experts": 8,
            "num_experts_per_tok": 2, "mlp_only_layers": [2]})");
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].field, "mlp_only_layers");
}

}  // namespace
}  // namespace windtunnel::input
