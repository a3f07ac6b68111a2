/// A row written as a plan gives the step time of the row, to the last bit.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>

#include "windtunnel/input/read.hpp"
#include "windtunnel/input/records.hpp"
#include "windtunnel/report/row_files.hpp"
#include "windtunnel/study/layout_choice.hpp"
#include "windtunnel/train/step.hpp"

namespace windtunnel {
namespace {

const model::Measurements& shipped() {
    static const model::Measurements all = input::read_measurements(WINDTUNNEL_SOURCE_DIR "/inputs", {});
    return all;
}

std::string text_of(const std::string& role, const std::string& ending) {
    for (const model::InputFile& file : shipped().files)
        if (file.role == role && file.path.ends_with(ending)) return file.text;
    return {};
}

std::string card_text(const std::string& id) {
    static const std::map<std::string, std::string> texts = [] {
        std::map<std::string, std::string> all;
        for (const model::InputFile& file : shipped().files)
            if (file.role == "accelerator") all[input::read_accelerator(file.path).id] = file.text;
        return all;
    }();
    return texts.at(id);
}

model::Plan plan_of(const std::vector<report::NamedText>& files) {
    return input::read_plan("plan.toml", {}, [&files](const std::string& name) {
        for (const report::NamedText& file : files)
            if (file.name == name) return input::FileText{file.text, {}};
        return input::FileText{{}, "is missing"};
    });
}

TEST(ImportedRows, EverySimulatedRowGivesTheSameBitsAsAPlan) {
    std::map<std::string, int> seen;
    for (const model::PublishedRow& row : shipped().rows) {
        const validate::RowJob job = validate::row_job(row, shipped());
        if (!job.problem.empty()) continue;
        const model::CalibrationRule* rule = validate::calibration_of(row, shipped());
        const std::string calibration =
            rule == nullptr ? std::string{} : text_of("calibration", rule->name.substr(rule->name.rfind('/')));
        const auto files = report::row_files(row, job, card_text(job.job.cluster.accelerator.id), calibration);
        const model::Plan plan = plan_of(files);
        const model::Layout layout = study::chosen_layout(plan);
        EXPECT_EQ(layout, job.layout) << row.id;
        const train::Job from_plan = train::job_of(plan);
        const train::UnitKey key = train::unit_key(layout);
        const double by_plan = train::step_time(from_plan, layout, train::unit_costs(from_plan, key)).value();
        const double by_row = train::step_time(job.job, layout, train::unit_costs(job.job, key)).value();
        EXPECT_EQ(std::bit_cast<std::uint64_t>(by_plan), std::bit_cast<std::uint64_t>(by_row)) << row.id;
        const auto memory_of = [&](const train::Job& whole) {
            double sum = 0.0;
            for (const auto& stage : train::stage_memory(whole, layout, train::unit_costs(whole, key)))
                sum += stage.total().value();
            return sum;
        };
        EXPECT_EQ(memory_of(from_plan), memory_of(job.job)) << row.id;
        ++seen[row.file];
    }
    EXPECT_GE(seen.size(), 18U);  // files with rows that can be simulated
}

}  // namespace
}  // namespace windtunnel
