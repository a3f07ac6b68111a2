#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "windtunnel/store/schema_page.hpp"
#include "windtunnel/study/schema.hpp"

namespace windtunnel::report {
namespace {

/// WINDTUNNEL_UPDATE_DOCS=1 writes the page anew.
TEST(ResultsPage, IsThatOfTheSchemas) {
    const std::string path = std::string{WINDTUNNEL_SOURCE_DIR} + "/docs/results.md";
    const std::string page = store::schema_page(study::all_schemas());
    if (std::getenv("WINDTUNNEL_UPDATE_DOCS") != nullptr) std::ofstream{path} << page;
    std::ifstream file{path};
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_EQ(text.str(), page) << "set WINDTUNNEL_UPDATE_DOCS=1 and run this test again";
}

TEST(ResultsPage, EveryTableHasAFaultlessSchema) {
    for (const store::TableSchema& schema : study::all_schemas())
        EXPECT_EQ(store::schema_faults(schema), std::vector<std::string>{}) << schema.path;
}

}  // namespace
}  // namespace windtunnel::report
