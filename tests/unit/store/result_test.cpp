#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>

#include "temporary_folder.hpp"
#include "windtunnel/base/errors.hpp"
#include "windtunnel/store/result_reader.hpp"
#include "windtunnel/store/result_writer.hpp"
#include "windtunnel/store/schema_page.hpp"

namespace windtunnel::store {
namespace {

using tests::TemporaryFolder;

TableSchema schema() {
    return {"search/best",
            "Best designs",
            {{"step_time_s", ColumnType::real, "s", "Time of a step", {}},
             {"cards", ColumnType::integer, "1", "Cards used", {}},
             {"verdict", ColumnType::enumeration, "1", "Verdict", {"fits", "out_of_memory"}},
             {"note", ColumnType::text, "1", "Remark", {}}}};
}

Table rows(int count) {
    Table table = empty_table(schema());
    for (int row = 0; row < count; ++row) {
        std::get<0>(table.columns[0]).push_back(row == 1 ? std::numeric_limits<double>::quiet_NaN() : 0.1 * row);
        std::get<1>(table.columns[1]).push_back((std::int64_t{1} << 62) + row);
        std::get<1>(table.columns[2]).push_back(row % 2);
        std::get<2>(table.columns[3]).push_back(row % 3 == 0 ? "" : "µs – 微秒 " + std::to_string(row));
    }
    return table;
}

Provenance provenance() {
    Provenance value;
    value.identity = "study = toy\n";
    value.plan = "title = \"Größe\"\n";
    value.command = "windtunnel search plan.toml";
    value.seed = std::numeric_limits<std::uint64_t>::max();
    value.ranks = 4;
    value.threads = 2;
    value.host = "n1";
    value.elapsed_s = 1.5;
    value.exit_state = "done";
    value.blocks = 12;
    value.files = {{"plan", "plan.toml", "title = 1\n", text_hash("title = 1\n")},
                   {"model", "m.toml", "", text_hash("")}};
    value.assumptions = {"recovery.restart = 600 s (assumed)"};
    return value;
}

void expect_equal(const Table& a, const Table& b) {
    ASSERT_EQ(a.schema.columns.size(), b.schema.columns.size());
    for (std::size_t column = 0; column < a.columns.size(); ++column) {
        EXPECT_EQ(a.schema.columns[column].name, b.schema.columns[column].name);
        EXPECT_EQ(a.schema.columns[column].type, b.schema.columns[column].type);
        EXPECT_EQ(a.schema.columns[column].units, b.schema.columns[column].units);
        EXPECT_EQ(a.schema.columns[column].long_name, b.schema.columns[column].long_name);
        EXPECT_EQ(a.schema.columns[column].enum_names, b.schema.columns[column].enum_names);
        if (a.columns[column].index() != 0) {
            EXPECT_EQ(a.columns[column], b.columns[column]);
            continue;
        }
        const auto& x = std::get<0>(a.columns[column]);
        const auto& y = std::get<0>(b.columns[column]);
        ASSERT_EQ(x.size(), y.size());
        for (std::size_t row = 0; row < x.size(); ++row)
            EXPECT_TRUE(x[row] == y[row] || (std::isnan(x[row]) && std::isnan(y[row])));
    }
}

TEST(ResultFile, GivesBackTablesAndProvenance) {
    const TemporaryFolder folder;
    {
        ResultWriter writer{folder / "a.h5"};
        writer.write(rows(7));
        writer.finish(provenance(), Completeness::whole);
    }
    const ResultReader reader{folder / "a.h5"};
    EXPECT_EQ(reader.completeness(), Completeness::whole);
    EXPECT_EQ(reader.table_paths(), std::vector<std::string>{"search/best"});
    EXPECT_EQ(reader.num_rows("search/best"), 7U);
    expect_equal(reader.read("search/best"), rows(7));
    const Table middle = reader.read("search/best", 2, 4);
    EXPECT_EQ(std::get<1>(middle.columns[2]), (std::vector<std::int64_t>{0, 1}));
    const Provenance back = reader.provenance();
    EXPECT_EQ(back.identity, provenance().identity);
    EXPECT_EQ(back.plan, provenance().plan);
    EXPECT_EQ(back.seed, provenance().seed);
    EXPECT_EQ(back.threads, 2);
    EXPECT_EQ(back.elapsed_s, 1.5);
    ASSERT_EQ(back.files.size(), 2U);
    EXPECT_EQ(back.files[0].text, "title = 1\n");
    EXPECT_EQ(back.files[1].hash, text_hash(""));
    EXPECT_EQ(back.assumptions, provenance().assumptions);
    EXPECT_TRUE(back.implicit_defaults.empty());
}

TEST(ResultFile, HoldsTablesWithoutRows) {
    const TemporaryFolder folder;
    {
        ResultWriter writer{folder / "a.h5"};
        writer.write(rows(0));
        const std::size_t table = writer.begin({"search/all", "All", schema().columns}, no_widths(schema()));
        writer.append(table, rows(0));
        writer.finish({}, Completeness::partial);
    }
    const ResultReader reader{folder / "a.h5"};
    EXPECT_EQ(reader.completeness(), Completeness::partial);
    EXPECT_EQ(reader.num_rows("search/best"), 0U);
    expect_equal(reader.read("search/all"), rows(0));
    EXPECT_TRUE(reader.provenance().command.empty());
}

TEST(ResultFile, TableInPiecesEqualsTheWholeTable) {
    const TemporaryFolder folder;
    TextWidths widths = no_widths(schema());
    widen(widths, rows(100));
    {
        ResultWriter writer{folder / "a.h5"};
        const std::size_t table = writer.begin(schema(), widths);
        for (int piece = 0; piece < 3; ++piece) writer.append(table, rows(100));
        writer.finish(provenance(), Completeness::whole);
    }
    const ResultReader reader{folder / "a.h5"};
    EXPECT_EQ(reader.num_rows("search/best"), 300U);
    expect_equal(reader.read("search/best", 200, 300), rows(100));
}

TEST(ResultFile, TwoWritesOfEqualTablesAreEqualBytesButForProvenance) {
    const TemporaryFolder folder;
    for (const char* name : {"a.h5", "b.h5"}) {
        ResultWriter writer{folder / name};
        writer.write(rows(50));
        writer.finish(provenance(), Completeness::whole);
    }
    std::ifstream a{folder / "a.h5", std::ios::binary};
    std::ifstream b{folder / "b.h5", std::ios::binary};
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>{a}, {}), std::string(std::istreambuf_iterator<char>{b}, {}));
}

TEST(ResultFile, IsAbsentUntilItIsWhole) {
    const TemporaryFolder folder;
    {
        ResultWriter writer{folder / "a.h5"};
        writer.write(rows(3));
        EXPECT_FALSE(std::filesystem::exists(folder / "a.h5"));
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(ResultFile, WrongSchemaOrColumnsAreRefused) {
    const TemporaryFolder folder;
    ResultWriter writer{folder / "a.h5"};
    Table no_units = rows(1);
    no_units.schema.columns[0].units.clear();
    EXPECT_THROW(writer.write(no_units), base::RunError);
    Table uneven = rows(2);
    std::get<1>(uneven.columns[1]).pop_back();
    uneven.schema.path = "uneven";
    EXPECT_THROW(writer.write(uneven), base::RunError);
    Table outside = rows(2);
    std::get<1>(outside.columns[2])[0] = 2;
    outside.schema.path = "outside";
    EXPECT_THROW(writer.write(outside), base::RunError);
}

TEST(ResultFile, FullDiskIsAnErrorAndLeavesNothingUnderItsName) {
    const TemporaryFolder folder;
    const auto before = std::signal(SIGXFSZ, SIG_IGN);
    rlimit old{};
    ::getrlimit(RLIMIT_FSIZE, &old);
    const rlimit small{20000, old.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    try {
        ResultWriter writer{folder / "a.h5"};
        for (int table = 0; table < 20; ++table) {
            Table piece = rows(1000);
            piece.schema.path = "t" + std::to_string(table);
            writer.write(piece);
        }
        writer.finish(provenance(), Completeness::whole);
        ADD_FAILURE() << "the limit was not felt";
    } catch (const base::RunError& error) {
        EXPECT_NE(std::string{error.what()}.find("a.h5"), std::string::npos) << error.what();
        EXPECT_NE(std::string{error.what()}.find("File too large"), std::string::npos) << error.what();
    }
    ::setrlimit(RLIMIT_FSIZE, &old);
    std::signal(SIGXFSZ, before);
    EXPECT_FALSE(std::filesystem::exists(folder / "a.h5"));
}

TEST(ResultFile, MissingFolderIsARunErrorWithThePath) {
    const TemporaryFolder folder;
    EXPECT_THROW(ResultWriter{folder / "no/a.h5"}, base::RunError);
}

TEST(ResultReader, RefusesWhatIsNoResult) {
    const TemporaryFolder folder;
    EXPECT_THROW(ResultReader{folder / "absent.h5"}, base::InputError);
    EXPECT_THROW(ResultReader{folder.path()}, base::InputError);
    std::ofstream{folder / "text.h5"} << "not HDF5";
    EXPECT_THROW(ResultReader{folder / "text.h5"}, base::InputError);
}

TEST(ResultReader, CutFileIsAnError) {
    const TemporaryFolder folder;
    {
        ResultWriter writer{folder / "a.h5"};
        writer.write(rows(500));
        writer.finish(provenance(), Completeness::whole);
    }
    const auto size = std::filesystem::file_size(folder / "a.h5");
    for (const double share : {0.0, 0.001, 0.1, 0.5, 0.9, 0.999}) {
        std::filesystem::copy_file(folder / "a.h5", folder / "cut.h5",
                                   std::filesystem::copy_options::overwrite_existing);
        std::filesystem::resize_file(folder / "cut.h5", static_cast<std::uintmax_t>(share * static_cast<double>(size)));
        EXPECT_ANY_THROW({
            const ResultReader reader{folder / "cut.h5"};
            (void)reader.read("search/best");
        }) << share;
    }
}

TEST(SchemaPage, HasARowForEachColumn) {
    const std::string page = schema_page({schema()});
    EXPECT_NE(page.find("## `/results/search/best`"), std::string::npos);
    EXPECT_NE(page.find("| `step_time_s` | 64-bit real | s | Time of a step |"), std::string::npos);
    EXPECT_NE(page.find("one of: fits, out_of_memory"), std::string::npos);
    EXPECT_NE(page.find("## `/provenance/inputs`"), std::string::npos);
}

TEST(SchemaPage, FaultsOfASchemaAreNamed) {
    TableSchema wrong = schema();
    wrong.columns[1].name = "step_time_s";
    wrong.columns[2].enum_names.clear();
    EXPECT_EQ(schema_faults(wrong).size(), 2U);
    EXPECT_TRUE(schema_faults(schema()).empty());
}

}  // namespace
}  // namespace windtunnel::store
