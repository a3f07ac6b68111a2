/// Data-driven: every file under bad/ has its findings in comment lines `#! text`; each must be part of one finding,
/// and there are as many findings as such lines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "windtunnel/input/chains.hpp"
#include "windtunnel/input/keys.hpp"
#include "windtunnel/input/read.hpp"
#include "windtunnel/input/recovery_machine.hpp"

namespace windtunnel::input {
namespace {

namespace fs = std::filesystem;
const fs::path source_dir{WINDTUNNEL_SOURCE_DIR};

std::string text_of(const fs::path& path) {
    std::ifstream file{path, std::ios::binary};
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

std::vector<fs::path> files_below(const fs::path& folder) {
    std::vector<fs::path> files;
    if (!fs::exists(folder)) return files;
    for (const auto& entry : fs::directory_iterator{folder})
        if (entry.path().extension() == ".toml") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

/// Reads a file by the start of its name: plan-x.toml, model-x.toml, ...
std::vector<base::Finding> findings_of(const fs::path& path) {
    const std::string name = path.filename().string();
    try {
        if (name.starts_with("model"))
            (void)read_model(path.string());
        else if (name.starts_with("accelerator"))
            (void)read_accelerator(path.string());
        else if (name.starts_with("cluster"))
            (void)read_cluster(path.string());
        else if (name.starts_with("failures") || name.starts_with("variants"))
            (void)read_failures(path.string());
        else if (name.starts_with("calibration"))
            (void)read_efficiency(path.string());
        else if (name.starts_with("chain"))
            (void)read_chains(path.string());
        else if (name.starts_with("machine"))
            (void)read_recovery_machine(path.string());
        else
            (void)read_plan(path.string(), {});
    } catch (const base::InputError& error) {
        return error.findings();
    }
    return {};
}

std::string all_of(const std::vector<base::Finding>& findings) {
    std::string text;
    for (const auto& finding : findings) text += finding.text() + "\n";
    return text;
}

class BadFile : public testing::TestWithParam<fs::path> {};

TEST_P(BadFile, GivesItsFindings) {
    std::vector<std::string> expected;
    std::istringstream lines{text_of(GetParam())};
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("#! ")) expected.push_back(line.substr(3));
    ASSERT_FALSE(expected.empty()) << "no expected finding in " << GetParam();
    const auto findings = findings_of(GetParam());
    const std::string folder = GetParam().parent_path().string() + "/";
    EXPECT_EQ(findings.size(), expected.size()) << all_of(findings);
    for (const std::string& want : expected) EXPECT_THAT(all_of(findings), testing::HasSubstr(want));
}

class GoodFile : public testing::TestWithParam<fs::path> {};

TEST_P(GoodFile, HasNoFinding) {
    const auto findings = findings_of(GetParam());
    EXPECT_TRUE(findings.empty()) << all_of(findings);
}

class ShippedFile : public testing::TestWithParam<std::pair<std::string, fs::path>> {};

TEST_P(ShippedFile, HasNoFinding) {
    const auto& [kind, path] = GetParam();
    try {
        if (kind == "plans") {
            EXPECT_FALSE(read_plan(path.string(), {}).resolved_text.empty());
        } else if (kind == "models") {
            EXPECT_GT(read_model(path.string()).num_layers, 0);
        } else if (kind == "accelerators") {
            EXPECT_GT(read_accelerator(path.string()).memory.value(), 0.0);
        } else if (kind == "clusters") {
            EXPECT_GT(read_cluster(path.string()).num_cards(), 0);
        } else if (kind == "failures") {
            EXPECT_FALSE(read_failures(path.string()).empty());
        } else if (kind == "recovery") {
            EXPECT_GT(read_recovery_machine(path.string()).states.size(), 1u);
        } else if (kind == "engines") {
            EXPECT_FALSE(read_engine_efficiency(path.string()).name.empty());
        } else {
            EXPECT_FALSE(read_efficiency(path.string()).name.empty());
        }
    } catch (const base::InputError& error) {
        ADD_FAILURE() << error.what();
    }
}

std::vector<std::pair<std::string, fs::path>> shipped() {
    std::vector<std::pair<std::string, fs::path>> files;
    for (const char* kind :
         {"plans", "models", "accelerators", "clusters", "failures", "calibrations", "recovery", "engines"})
        for (const fs::path& path : files_below(source_dir / "inputs" / kind)) files.emplace_back(kind, path);
    return files;
}

std::string name_of(const fs::path& path) {
    std::string name = path.stem().string();
    for (char& letter : name)
        if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
    return name;
}

INSTANTIATE_TEST_SUITE_P(Bad, BadFile, testing::ValuesIn(files_below(source_dir / "tests/input/bad")),
                         [](const auto& test) { return name_of(test.param); });
INSTANTIATE_TEST_SUITE_P(Good, GoodFile, testing::ValuesIn(files_below(source_dir / "tests/input/good")),
                         [](const auto& test) { return name_of(test.param); });
INSTANTIATE_TEST_SUITE_P(Shipped, ShippedFile, testing::ValuesIn(shipped()),
                         [](const auto& test) { return name_of(test.param.first) + "_" + name_of(test.param.second); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ShippedFile);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(BadFile);

TEST(KeyPage, IsTheTableOfTheReader) {
    const fs::path page = source_dir / "docs/inputs.md";
    if (std::getenv("WINDTUNNEL_WRITE_PAGES") != nullptr) std::ofstream{page} << keys_as_markdown();
    EXPECT_EQ(text_of(page), keys_as_markdown())
        << "run this test with WINDTUNNEL_WRITE_PAGES=1 to write the page anew";
}

}  // namespace
}  // namespace windtunnel::input
