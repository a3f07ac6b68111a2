#include "windtunnel/input/records.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "temporary_folder.hpp"

namespace windtunnel::input {
namespace {

constexpr const char* two_records = R"({"title": "t", "records": [
 {"id":"a","model":{"name":"M","hidden":64,"layers":2,"heads":4,"ffn":256,"vocab":100,"gated_mlp":false,"moe":null,"seq":128},
  "hardware":{"name":"X","cards":8,"dtype":"bf16"},"parallel":{"tp":1,"pp":1,"mbs":1,"gbs":8,"recompute":null},
  "measured":{"step_time_s":0.5,"oom":false},"source":"s","software":"deepspeed","extra":[1,2]},
 {"id":"b","model":{"name":"N","moe":{"experts":8,"top_k":2,"moe_ffn":32,"shared_experts":1,"shared_ffn":null,"first_dense":1,"moe_layer_freq":1}},
  "hardware":{"name":"X"},"parallel":{},"measured":{}}
]})";

TEST(Records, NullAndAbsentAreNotPrinted) {
    std::vector<base::Finding> findings;
    const auto rows = parse_records(two_records, "folder/source_x.json", findings);
    ASSERT_TRUE(findings.empty()) << findings.front().text();
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].id, "a");
    EXPECT_EQ(rows[0].file, "source_x");
    EXPECT_EQ(rows[0].line, 2);
    EXPECT_EQ(rows[1].line, 5);
    EXPECT_EQ(rows[0].hidden, 64);
    EXPECT_EQ(rows[0].gbs, 8);
    EXPECT_EQ(rows[0].step_time_s, 0.5);
    EXPECT_EQ(rows[0].oom, false);
    EXPECT_FALSE(rows[0].recompute.has_value());
    EXPECT_FALSE(rows[0].kv_heads.has_value());
    EXPECT_FALSE(rows[0].experts.has_value());
    ASSERT_TRUE(rows[1].experts.has_value());
    EXPECT_EQ(rows[1].experts->num_routed, 8);
    EXPECT_EQ(rows[1].experts->num_dense_layers, 1);
    EXPECT_FALSE(rows[1].experts->shared_ffn.has_value());
    EXPECT_FALSE(rows[1].step_time_s.has_value());
}

TEST(Records, EveryFindingIsReportedWithItsLine) {
    const std::string text = R"({"records": [
 {"id":"a","parallel":{"tp":0,"pp":1.5},"measured":{"step_time_s":-1}},
 {"id":"a","hardware":{"name":7}},
 {"model":{}},
 {"id":"c","parallel":{"gbs":1e300}}
]})";
    std::vector<base::Finding> findings;
    const auto rows = parse_records(text, "f.json", findings);
    EXPECT_TRUE(rows.empty());
    ASSERT_EQ(findings.size(), 7U);  // tp, pp, step_time_s; id twice, name; no id; gbs
    EXPECT_EQ(findings[0].line, 2);
    EXPECT_EQ(findings[0].field, "tp");
    EXPECT_EQ(findings[3].line, 3);
    EXPECT_EQ(findings[6].line, 5);
}

TEST(Records, WhatIsNoRecordFileIsAFinding) {
    for (const char* text :
         {"", "{", "[]", "{\"records\": 3}", "null", "{\"records\": []}", "{\"records\": [1, null, {\"id\": 3}]}"}) {
        std::vector<base::Finding> findings;
        EXPECT_TRUE(parse_records(text, "f.json", findings).empty());
        EXPECT_FALSE(findings.empty()) << text;
    }
}

TEST(Records, TheShippedFilesAreRead) {
    const model::Measurements measurements = read_measurements(WINDTUNNEL_SOURCE_DIR "/inputs", {});
    EXPECT_EQ(measurements.rows.size(), 1193U);  // as counted in the index of the collection
    EXPECT_GT(measurements.accelerators.size(), 30U);
    EXPECT_FALSE(measurements.limits.empty());
    // All that counts is noted: rows, defaults, limits, aliases, each calibration and each card.
    const auto noted = [&](const std::string& role) {
        return static_cast<std::size_t>(std::count_if(measurements.files.begin(), measurements.files.end(),
                                                      [&](const model::InputFile& file) { return file.role == role; }));
    };
    EXPECT_EQ(noted("accelerator"), measurements.accelerators.size());
    EXPECT_EQ(noted("calibration"), measurements.calibrations.size());
    for (const char* role : {"rows", "defaults", "limits", "aliases", "calibrations"})
        EXPECT_GE(noted(role), 1U) << role;
    // Every file and every software family of the rows has its defaults, every hardware name its accelerator.
    for (const model::PublishedRow& row : measurements.rows) {
        EXPECT_TRUE(measurements.file_defaults.contains(row.file) ||
                    measurements.software_defaults.contains(row.software) || row.software == "other")
            << row.id;
        const auto alias = measurements.aliases.find(row.accelerator);
        ASSERT_NE(alias, measurements.aliases.end()) << row.accelerator;
        EXPECT_TRUE(measurements.accelerators.contains(alias->second)) << alias->second;
    }
}

TEST(Records, AFileWithoutRowsIsNoSuccess) {
    const std::string path = testing::TempDir() + "no_rows.json";
    std::ofstream{path} << R"({"title": "t", "records": []})";
    EXPECT_THROW((void)read_measurements(WINDTUNNEL_SOURCE_DIR "/inputs", {path}), base::InputError);
    std::remove(path.c_str());
}

TEST(Records, OwnRowsWereNeverFittedAndKeepTheLimitsOfTheirFamiliesOnly) {
    const model::Measurements shipped = read_measurements(WINDTUNNEL_SOURCE_DIR "/inputs", {});
    const auto used = [](const auto& rows) { return std::ranges::count_if(rows, model::used_to_fit); };
    const std::string file = WINDTUNNEL_SOURCE_DIR "/inputs/measurements/train/megatron_sc21.json";
    const auto same = read_measurements(WINDTUNNEL_SOURCE_DIR "/inputs", {file});
    EXPECT_GT(used(same.rows), 0);  // a copy of a shipped row
    EXPECT_EQ(used(same.rows), std::ranges::count_if(shipped.rows, [](const model::PublishedRow& row) {
                  return row.file == "megatron_sc21" && model::used_to_fit(row);
              }));
    // The same runs, had their batch been another one: no fit has seen them.
    const tests::TemporaryFolder folder;
    std::ifstream from{file};
    std::string text{std::istreambuf_iterator<char>{from}, {}};
    for (std::size_t at = 0; (at = text.find("\"seq\":2048", at)) != std::string::npos;)
        text.replace(at, 10, "\"seq\":1024");
    const std::string own = folder / "own.json";
    std::ofstream{own} << text;
    const auto others = read_measurements(WINDTUNNEL_SOURCE_DIR "/inputs", {own});
    EXPECT_EQ(others.rows.size(), same.rows.size());
    EXPECT_EQ(used(others.rows), 0);
    EXPECT_FALSE(others.limits.empty());
    EXPECT_TRUE(std::ranges::none_of(others.limits, [](const auto& limit) { return limit.family == "all"; }));
}

TEST(Records, AMissingFileIsAnInputError) {
    EXPECT_THROW((void)read_records("/nonexistent/rows.json"), base::InputError);
    EXPECT_THROW((void)read_measurements("/nonexistent", {}), base::InputError);
}

}  // namespace
}  // namespace windtunnel::input
