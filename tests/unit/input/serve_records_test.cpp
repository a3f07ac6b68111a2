#include "windtunnel/input/serve_records.hpp"

#include <gtest/gtest.h>

#include "windtunnel/input/keys.hpp"
#include "windtunnel/input/read.hpp"

namespace windtunnel::input {
namespace {

const std::string header = "hardware,chips,framework,model,isl,osl,batch,latency_s\n";

TEST(ServeTable, ColumnsTellTheKindAndCellsKeepTheirText) {
    std::vector<base::Finding> findings;
    const auto rows = parse_serve_table(header + "H100,2,vLLM,\"Llama, 3\",128,128,16,2.5\n", "own.csv", findings);
    EXPECT_TRUE(findings.empty());
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].table, model::ServeTable::static_batch);
    EXPECT_EQ(rows[0].model_name(), "Llama, 3");
    EXPECT_EQ(rows[0].id, "own:2");
    EXPECT_EQ(rows[0].number("latency_s"), 2.5);
}

TEST(ServeTable, EveryBadCellIsAFindingWithItsPlace) {
    std::vector<base::Finding> findings;
    const auto rows = parse_serve_table(header +
                                            "H100,2,vLLM,m,128,128,16,nan\n"
                                            "H100,2,vLLM,m,-1,many,16,1\n"
                                            "H100,2,vLLM\n"
                                            "H100,2,vLLM,m,128,128,16,1\n",
                                        "own.csv", findings);
    EXPECT_EQ(rows.size(), 1U);  // the last one
    ASSERT_EQ(findings.size(), 4U);
    EXPECT_EQ(findings[0].line, 2);
    EXPECT_EQ(findings[0].column, 26);
    EXPECT_EQ(findings[0].field, "latency_s");
    EXPECT_EQ(findings[1].field, "isl");
    EXPECT_EQ(findings[2].field, "osl");
    EXPECT_EQ(findings[3].line, 4);
}

TEST(ServeTable, AnUnknownHeaderNamesWhatIsMissing) {
    std::vector<base::Finding> findings;
    EXPECT_TRUE(parse_serve_table("hardware,chips,framework,model,isl,osl,batch\n", "own.csv", findings).empty());
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_NE(findings[0].expected.find("latency_s"), std::string::npos);
    findings.clear();
    EXPECT_TRUE(parse_serve_table("", "own.csv", findings).empty());
    EXPECT_EQ(findings.size(), 1U);
}

TEST(Points, QuantitiesAndCasesBecomeRows) {
    std::vector<base::Finding> findings;
    const auto rows = parse_points(
        R"({"points": [{"id": "A", "model": "m", "hardware": "h", "ep": 32, "tp": null, "quantities": {"tpot_s": 0.05},
            "result": {"gain_pct": {"b32": -27}},
            "cases": [{"case": "one", "quantities": {"tpot_s": 0.1}}]}, {"no": "id"}]})",
        "own.json", findings);
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].number("tpot_s"), 0.05);
    EXPECT_EQ(rows[0].integer("ep", 0), 32);
    EXPECT_EQ(rows[0].integer("tp", 1), 1);
    EXPECT_EQ(rows[0].number("result.gain_pct.b32"), -27.0);
    EXPECT_EQ(rows[1].id, "A:one");
    EXPECT_EQ(rows[1].number("tpot_s"), 0.1);
    EXPECT_EQ(findings.size(), 1U);
    (void)parse_points("not json", "own.json", findings);
    EXPECT_EQ(findings.size(), 2U);
}

TEST(ServeFitHash, JoinsTheCellsAsPrinted) {
    // FNV-1a of "m|h||128|128|2||", computed apart: the row has no dtype, pp nor ep.
    model::ServeRow row;
    row.cells = {{"model", "m"}, {"hardware", "h"}, {"isl", "128"}, {"osl", "128"}, {"chips", "2"}, {"batch", "64"}};
    std::uint64_t hash = 14695981039346656037ULL;
    for (const char letter : std::string{"m|h||128|128|2||"})
        hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211ULL;
    EXPECT_EQ(model::serve_fit_hash(row), hash);
    model::ServeRow other = row;
    other.cells["batch"] = "1";  // no part of the key
    EXPECT_EQ(model::serve_fit_hash(other), hash);
    other.cells["dtype"] = "FP8";
    EXPECT_NE(model::serve_fit_hash(other), hash);
}

TEST(ServeMeasurements, ShippedFilesAreRead) {
    const auto all = read_serve_measurements(WINDTUNNEL_SOURCE_DIR "/inputs", {});
    EXPECT_GT(all.rows.size(), 2900U);
    for (const model::EngineRule& rule : all.rules)
        for (const model::EngineParameter& parameter : model::engine_parameters()) {
            EXPECT_GE(parameter.get(rule.efficiency), parameter.least) << rule.name << " " << parameter.name;
            EXPECT_LE(parameter.get(rule.efficiency), parameter.most) << rule.name << " " << parameter.name;
        }
}

TEST(EngineKeys, EachParameterHasAKeyAndReachesItsMember) {
    const KeyFile& file = key_file("engine");
    EXPECT_EQ(file.keys.size(), model::engine_parameters().size() + 3);  // name, evidence, relative_error_90
    model::EngineEfficiency set;
    for (const model::EngineParameter& parameter : model::engine_parameters()) {
        const double before = parameter.get(set);
        parameter.put(set, 0.5 * (before + parameter.most));
        EXPECT_NE(parameter.get(set), before) << parameter.name;
    }
}

}  // namespace
}  // namespace windtunnel::input
