#include "windtunnel/app/options.hpp"

#include <gtest/gtest.h>

#include "windtunnel/base/errors.hpp"

namespace windtunnel::app {
namespace {

Command sample() {
    return {"avail",
            "Useful time of a cluster.",
            "PLAN",
            1,
            1,
            {{"output", "FILE.h5", "result file", "", false, 'o'},
             {"trials", "N", "histories", "1000"},
             {"set", "KEY=VALUE", "replaces a key", "", true},
             {"json", "", "print JSON"},
             {"help", "", "this text"}}};
}

std::string findings_of(const std::vector<std::string>& words) {
    try {
        (void)parse(sample(), words);
    } catch (const base::InputError& error) {
        return error.what();
    }
    return "";
}

TEST(Arguments, AreTakenByName) {
    const Arguments arguments =
        parse(sample(), {"plan.toml", "-o", "a.h5", "--trials=12", "--set", "a.b=-1", "--set=c=2", "--json"});
    EXPECT_EQ(arguments.positional(), std::vector<std::string>{"plan.toml"});
    EXPECT_EQ(arguments.text("output"), "a.h5");
    EXPECT_EQ(arguments.integer("trials", 1, 100), 12);
    EXPECT_EQ(arguments.texts("set"), (std::vector<std::string>{"a.b=-1", "c=2"}));
    EXPECT_TRUE(arguments.has("json"));
    EXPECT_FALSE(arguments.has("help"));
}

TEST(Arguments, EveryUnknownOptionIsNamedWithTheNearest) {
    const std::string text = findings_of({"plan.toml", "--trails", "12", "--ouput=x.h5"});
    EXPECT_NE(text.find("--trails: unknown option"), std::string::npos) << text;
    EXPECT_NE(text.find("--trials perhaps"), std::string::npos) << text;
    EXPECT_NE(text.find("--ouput: unknown option"), std::string::npos) << text;
    EXPECT_NE(text.find("--output perhaps"), std::string::npos) << text;
}

TEST(Arguments, AreNeverGuessed) {
    EXPECT_NE(findings_of({"plan.toml", "--tri", "12"}), "");
}

TEST(Arguments, AFlagHasNoValueAndAnOptionHasOne) {
    EXPECT_NE(findings_of({"plan.toml", "--json=yes"}), "");
    EXPECT_NE(findings_of({"plan.toml", "--trials"}), "");
    EXPECT_NE(findings_of({"plan.toml", "--trials", "1", "--trials", "2"}), "");
}

TEST(Arguments, AreCounted) {
    EXPECT_NE(findings_of({}), "");
    EXPECT_NE(findings_of({"a", "b"}), "");
    EXPECT_EQ(findings_of({"--help"}), "");
}

TEST(Arguments, ANumberIsWholeAndInRange) {
    for (const char* bad : {"x", "1.5", "0", "101", "", "9999999999999999999999", "1 "}) {
        const Arguments arguments = parse(sample(), {"plan.toml", "--trials", bad});
        EXPECT_THROW((void)arguments.integer("trials", 1, 100), base::InputError) << bad;
    }
}

TEST(Numbers, AreReadWhole) {
    EXPECT_EQ(to_number("0.5"), 0.5);
    EXPECT_EQ(to_number("1e3"), 1000.0);
    for (const char* bad : {"", "nan", "inf", "1x", " 1", "1e999"}) EXPECT_FALSE(to_number(bad)) << bad;
    EXPECT_EQ(to_integer("-7"), -7);
    EXPECT_FALSE(to_integer("7.0"));
}

TEST(Help, NamesEveryOptionWithItsDefault) {
    const std::string text = help(sample());
    EXPECT_NE(text.find("Usage: windtunnel avail [options] PLAN"), std::string::npos);
    EXPECT_NE(text.find("-o, --output FILE.h5"), std::string::npos);
    EXPECT_NE(text.find("--trials N"), std::string::npos);
    EXPECT_NE(text.find("(default: 1000)"), std::string::npos);
}

}  // namespace
}  // namespace windtunnel::app
