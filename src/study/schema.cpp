#include "windtunnel/study/schema.hpp"

#include "layout_columns.hpp"
#include "windtunnel/model/verdict.hpp"
#include "windtunnel/study/serve_study.hpp"
#include "windtunnel/study/trials.hpp"
#include "windtunnel/train/unit_costs.hpp"

namespace windtunnel::study {
namespace {

using store::ColumnSchema;
using store::ColumnType;
using Columns = std::vector<ColumnSchema>;

ColumnSchema real(std::string name, std::string units, std::string long_name) {
    return {std::move(name), ColumnType::real, std::move(units), std::move(long_name), {}};
}
ColumnSchema integer(std::string name, std::string long_name) {
    return {std::move(name), ColumnType::integer, "1", std::move(long_name), {}};
}
ColumnSchema text(std::string name, std::string long_name) {
    return {std::move(name), ColumnType::text, "1", std::move(long_name), {}};
}
ColumnSchema choice(std::string name, std::string long_name, std::vector<std::string> names) {
    return {std::move(name), ColumnType::enumeration, "1", std::move(long_name), std::move(names)};
}

ColumnSchema verdict_column() {
    std::vector<std::string> names;
    for (int reason = 0; reason < model::num_verdict_reasons; ++reason)
        names.push_back(model::to_text(static_cast<model::VerdictReason>(reason)));
    return choice("verdict", "first rule that the layout breaks, or fits", std::move(names));
}

Columns joined(Columns first, const Columns& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

Columns ranked_columns() {
    return {real("step_time_s", "s", "time of one step by the schedule executor"),
            real("closed_form_s", "s", "time of one step by the closed form"),
            real("tokens_per_second", "1/s", "tokens per second of the job"),
            real("mfu", "1", "model FLOPs utilisation, causal attention counted once"),
            real("memory_bytes", "byte", "memory of a card of the fullest pipeline stage"),
            integer("fullest_stage", "that stage"),
            real("time_to_tokens_s", "s", "time to the tokens of the run without failures; nan: no tokens given"),
            real("cost_usd", "USD", "cost of the run without failures; nan: no prices or tokens given"),
            real("energy_j", "J", "energy of the run without failures; nan: no power or tokens given")};
}

Columns estimate(const std::string& name, const std::string& suffix, const std::string& units,
                 const std::string& long_name) {
    return {real(name + suffix, units, long_name + ", mean over trials"),
            real(name + "_standard_error" + suffix, units, long_name + ", standard error of the mean"),
            real(name + "_low" + suffix, units, long_name + ", 95 % interval of the mean, lower end"),
            real(name + "_high" + suffix, units, long_name + ", 95 % interval of the mean, upper end")};
}

ColumnSchema variant_column(const std::vector<std::string>& variants) {
    return choice("variant", "failure variant of the plan", variants);
}

std::vector<std::string> schedule_names() {
    std::vector<std::string> names;
    for (int schedule = 0; schedule < model::num_pipeline_schedules; ++schedule)
        names.push_back(model::to_text(static_cast<model::PipelineSchedule>(schedule)));
    return names;
}

}  // namespace

std::vector<ColumnSchema> layout_columns() {
    const auto names = [](auto... values) { return std::vector<std::string>{model::to_text(values)...}; };
    return {integer("cards", "cards of the job"),
            integer("tensor_parallel", "tensor parallel size"),
            integer("context_parallel", "context parallel size"),
            integer("data_parallel", "data parallel size; 0: the cards do not divide"),
            integer("pipeline_parallel", "pipeline parallel size"),
            integer("virtual_pipeline", "model chunks per pipeline rank"),
            integer("expert_parallel", "expert parallel size"),
            integer("expert_tensor_parallel", "expert tensor parallel size"),
            integer("micro_batch_size", "sequences of a micro-batch"),
            integer("global_batch_size", "sequences of a step"),
            choice("recompute", "activation recompute",
                   names(model::Recompute::none, model::Recompute::selective, model::Recompute::full)),
            choice("pipeline_schedule", "pipeline schedule", schedule_names()),
            integer("optimizer_sharding", "ZeRO level")};
}

void put_layout(Rows& rows, const model::Layout& layout) {
    const bool divides = layout.model_parallel() > 0 && layout.cards % layout.model_parallel() == 0;
    rows.integer(layout.cards)
        .integer(layout.tensor_parallel)
        .integer(layout.context_parallel)
        .integer(divides ? layout.data_parallel() : 0)
        .integer(layout.pipeline_parallel)
        .integer(layout.virtual_pipeline)
        .integer(layout.expert_parallel)
        .integer(layout.expert_tensor_parallel)
        .integer(layout.micro_batch_size)
        .integer(layout.global_batch_size)
        .integer(static_cast<std::int64_t>(layout.recompute))
        .integer(static_cast<std::int64_t>(layout.schedule))
        .integer(layout.optimizer_sharding);
}

store::TableSchema search_best_schema() {
    return {"search/best", "best designs by the objective, valued by the executor",
            joined(joined({integer("rank", "1: the best"), integer("design", "number of the design in the space")},
                          layout_columns()),
                   ranked_columns())};
}

store::TableSchema search_pareto_schema() {
    return {
        "search/pareto", "designs that no other one beats in every measure of search.pareto",
        joined(joined({integer("design", "number of the design in the space")}, layout_columns()), ranked_columns())};
}

store::TableSchema search_verdicts_schema() {
    return {"search/verdicts",
            "designs of the space by verdict; they sum to its size",
            {verdict_column(), integer("designs", "number of designs")}};
}

store::TableSchema search_margin_check_schema() {
    return {
        "search/margin_check",
        "which designs the executor ran, and whether the margin was wide enough",
        {integer("space_size", "designs of the space"),
         integer("reached_memory", "designs whose memory was computed one by one"), integer("fits", "designs that fit"),
         real("margin", "1", "closed form within this fraction of the worst of the best designs: to the executor"),
         integer("candidates", "designs inside the margin"),
         choice("candidates_cut", "more designs were inside than can be kept", {"no", "yes"}),
         integer("sampled", "designs outside the margin that the executor ran as a check"),
         integer("sample_in_top", "of them, inside the best designs; 0 when the margin is wide enough"),
         integer("above_limit", "designs that the executor's time puts above a limit of the plan"),
         choice("pareto_cut", "the front has more points than can be kept", {"no", "yes"}),
         real("least_ratio", "1", "executor over closed form, smallest of all designs run; nan: none"),
         real("greatest_ratio", "1", "executor over closed form, largest of all designs run; nan: none")}};
}

store::TableSchema search_designs_schema() {
    return {"search/designs", "every design that fits, by the closed form",
            joined(joined({integer("design", "number of the design in the space")}, layout_columns()),
                   {real("closed_form_s", "s", "time of one step by the closed form"),
                    real("tokens_per_second", "1/s", "tokens per second of the job by the closed form"),
                    real("memory_bytes", "byte", "memory of a card of the fullest pipeline stage")})};
}

store::TableSchema train_summary_schema() {
    return {
        "train/summary", "one training step of each layout",
        joined(joined({integer("point", "number of the layout, from 0")}, layout_columns()),
               {verdict_column(), text("verdict_detail", "values behind the verdict"),
                real("step_time_s", "s", "time of one step by the schedule executor; nan: the layout makes no sense"),
                real("closed_form_s", "s", "time of one step by the closed form"),
                real("tokens_per_second", "1/s", "tokens per second of the job"),
                real("mfu", "1", "model FLOPs utilisation, causal attention counted once"),
                real("mfu_full_attention", "1", "the same with attention counted in full"),
                real("hfu", "1", "hardware FLOPs utilisation, with recompute"),
                real("peak_used_flops_per_second", "1/s", "dense peak of a card behind MFU and HFU"),
                real("bubble_fraction", "1", "idle share of the pipeline phase, mean over stages"),
                integer("last_stage", "pipeline stage that ends last"),
                real("relative_error_90", "1", "half-width of the 90 % interval of the step time; 0: unknown"),
                choice("outside_fitted_range", "is the layout outside the range of the calibration", {"no", "yes"}),
                real("usable_memory_bytes", "byte", "memory of a card that the job may use"),
                integer("smallest_cards", "smallest number of cards that fits; 0: none"),
                integer("largest_micro_batch", "largest micro-batch that fits; 0: none"),
                real("linearity", "1", "tokens per second and card, relative to the first layout")})};
}

store::TableSchema train_parts_schema() {
    std::vector<std::string> names;
    for (int part = 0; part < train::num_parts; ++part) names.push_back(train::to_text(static_cast<train::Part>(part)));
    return {"train/parts",
            "where the time of a step goes, on the stage that ends last; parts sum to the step",
            {integer("point", "number of the layout, from 0"), choice("part", "part of the step", std::move(names)),
             real("time_s", "s", "time"), real("share", "1", "of the step")}};
}

store::TableSchema train_timeline_schema() {
    return {"train/timeline",
            "what the streams of each stage do during the step of the first layout, in order of time; at most the "
            "first 4,000",
            {integer("stage", "pipeline stage, from 0"),
             text("stream", "compute, p2p forward or backward, or dp: exchange and what follows"),
             text("task", "what it does"), real("start_s", "s", "since the start of the step"),
             real("duration_s", "s", "how long")}};
}

store::TableSchema train_memory_schema() {
    return {"train/memory",
            "memory of a card by pipeline stage and component",
            {integer("point", "number of the layout, from 0"), integer("stage", "pipeline stage, from 0"),
             real("weights_bytes", "byte", "weights"), real("gradients_bytes", "byte", "gradients"),
             real("optimizer_bytes", "byte", "optimizer states"),
             real("activations_bytes", "byte", "activations of micro-batches in flight"),
             real("logits_bytes", "byte", "logits and what the loss needs"),
             real("buffers_bytes", "byte", "buffers of recompute, backward and gathered weights"),
             real("reserve_bytes", "byte", "runtime context and loss of the allocator"),
             real("total_bytes", "byte", "sum")}};
}

store::TableSchema trials_summary_schema(const std::string& group, const std::vector<std::string>& variants) {
    Columns columns{variant_column(variants), integer("trials", "number of trials"),
                    integer("unfinished", "trials that ended before their work was done")};
    columns = joined(columns, estimate("wall", "_s", "s", "wall clock of a trial"));
    columns = joined(columns, estimate("goodput", "", "1", "useful share of the wall clock"));
    columns =
        joined(columns, estimate("availability", "", "1", "share of the wall clock not standing still for a failure"));
    columns = joined(columns, estimate("stops", "", "1", "failures that stopped the job"));
    columns =
        joined(columns, {real("fewest_spares", "1", "lowest level of the spare pool, mean over trials"),
                         real("mean_spares", "1", "level of the spare pool over time, mean over trials"),
                         real("without_spare", "1", "share of time in which the pool is empty, mean over trials"),
                         real("failure_free_s", "s", "wall clock without failures; nan: only a horizon is given"),
                         real("exact_goodput", "1", "long-run goodput of the Markov job; nan: it is none"),
                         real("exact_availability", "1", "long-run availability of the Markov job; nan: it is none"),
                         choice("half_width_reached", "is the interval as narrow as asked for", {"no", "yes"})});
    return {group + "/summary", "useful time of the job under failures", std::move(columns)};
}

store::TableSchema trials_quantiles_schema(const std::string& group, const std::vector<std::string>& variants) {
    return {
        group + "/quantiles",
        "quantiles over trials with 95 % intervals",
        {variant_column(variants), real("fraction", "1", "share of trials at or below the value"),
         real("wall_s", "s", "wall clock of a trial"), real("wall_low_s", "s", "lower end"),
         real("wall_high_s", "s", "upper end"), real("goodput", "1", "useful share of the wall clock"),
         real("goodput_low", "1", "lower end"), real("goodput_high", "1", "upper end"),
         choice("finished", "had so many trials done their work; no: the wall clock is a lower bound", {"no", "yes"})}};
}

store::TableSchema time_to_tokens_schema(const std::vector<std::string>& variants) {
    return {
        "rehearsal/time_to_tokens",
        "time to the last token: by failures alone, and with the error of the step time beside them",
        {variant_column(variants), real("fraction", "1", "share of trials at or below the value"),
         real("time_s", "s", "time to the last token, the step time as it is"),
         real("low_s", "s", "95 % interval, lower end"), real("high_s", "s", "95 % interval, upper end"),
         choice("finished", "had so many trials trained on all tokens; no: the time is a lower bound", {"no", "yes"}),
         real("step_time_error_90", "1", "half-width of the 90 % interval of the step time, relative; 0: unknown"),
         real("with_error_s", "s", "time to the last token with that error; nan: unknown"),
         real("with_error_low_s", "s", "95 % interval, lower end"),
         real("with_error_high_s", "s", "95 % interval, upper end"),
         choice("with_error_finished", "as finished, with that error", {"no", "yes"}),
         real("tokens", "1", "tokens trained on, at the end or at the horizon")}};
}

store::TableSchema trials_causes_schema(const std::string& group, const std::vector<std::string>& variants) {
    Columns columns{variant_column(variants), text("cause", "failure class")};
    columns = joined(columns, estimate("failures", "", "1", "failures of a trial"));
    columns = joined(columns, estimate("time_lost", "_s", "s", "time that the class cost a trial"));
    return {group + "/causes", "what stopped or slowed the job", std::move(columns)};
}

store::TableSchema trials_phases_schema(const std::string& group, const std::vector<std::string>& variants) {
    std::vector<std::string> names;
    for (int phase = 0; phase < num_wall_phases; ++phase) names.push_back(to_text(static_cast<WallPhase>(phase)));
    Columns columns{variant_column(variants), choice("phase", "part of the wall clock", std::move(names))};
    columns = joined(columns, estimate("time", "_s", "s", "time in the phase"));
    columns.push_back(real("share", "1", "of the mean wall clock"));
    return {group + "/phases", "where the wall clock of a trial went; phases sum to it", std::move(columns)};
}

store::TableSchema trials_job_schema(const std::string& group, const std::vector<std::string>& variants) {
    return {group + "/job",
            "the job whose trials these are",
            {variant_column(variants), integer("nodes", "nodes of the job"),
             integer("spare_nodes", "spare nodes at the start"), real("step_time_s", "s", "time of one step"),
             integer("steps", "steps of the work; -1: until the horizon"),
             real("horizon_s", "s", "wall clock at most; nan: no horizon"),
             real("checkpoint_interval_s", "s", "work between checkpoints; inf: no checkpoints"),
             real("checkpoint_write_s", "s", "time of writing one checkpoint"),
             real("mean_restart_s", "s", "mean time of a restart"),
             real("mean_time_between_stops_s", "s", "mean time between failures that stop the job; inf: none")}};
}

store::TableSchema trials_sensitivity_schema(const std::string& group, const std::vector<std::string>& variants) {
    return {
        group + "/sensitivity",
        "useful share of the wall clock when one input is halved or doubled and the others stay, by the formula of a "
        "segment with exponential failures that lose work to the last checkpoint",
        {variant_column(variants), text("parameter", "input of the job"),
         real("base_input_s", "s", "as the job has it"), real("base_value", "1", "useful share with it"),
         real("low_value", "1", "useful share with half of it"),
         real("high_value", "1", "useful share with twice as much")}};
}

store::TableSchema sampled_measures_schema() {
    return {
        "avail/measures",
        "measures of a chain file by sampled paths",
        {text("variant", "variant of the file; empty: it has none"), text("measure", "measure of the file"),
         real("value", "1", "estimate, in the unit of the measure; nan: not sampled"),
         real("standard_error", "1", "standard error of the estimate"), real("low", "1", "95 % interval, lower end"),
         real("high", "1", "95 % interval, upper end"), integer("trials", "trials of the variant"),
         integer("unreached", "paths given up before their end; above 0: the value is a lower bound"),
         text("method", "how the paths were drawn, or why there is no value")}};
}

store::TableSchema validate_rows_schema() {
    return {
        "validate/rows",
        "published measurements beside predictions",
        {text("id", "row"), text("family", "accelerator/dtype/dense|moe/software, or file/group"),
         text("quantity", "what is compared"), real("predicted", "1", "prediction, in the quantity's unit; nan: none"),
         real("measured", "1", "measurement, in the quantity's unit; nan: none"),
         real("relative_error", "1", "predicted / measured - 1; nan: none"),
         real("low", "1", "90 % interval of the prediction, lower end; nan: unknown"),
         real("high", "1", "90 % interval of the prediction, upper end; nan: unknown"),
         choice("used_to_fit", "may the row have been used to fit", {"no", "yes"}),
         text("reason", "why there is no prediction")}};
}

store::TableSchema validate_families_schema() {
    return {"validate/families",
            "errors by family and quantity",
            {text("family", "accelerator/dtype/dense|moe/software, or all"), text("quantity", "what is compared"),
             integer("rows", "rows with a prediction"), integer("rows_without", "rows without one"),
             real("mean", "1", "mean absolute relative error"), real("median", "1", "median absolute relative error"),
             real("percentile_90", "1", "90th percentile of absolute relative errors"),
             real("worst", "1", "largest absolute relative error"),
             real("mean_not_fitted", "1", "mean absolute relative error of rows that were not used to fit"),
             integer("rows_not_fitted", "those rows"), real("limit", "1", "largest allowed mean; nan: none"),
             choice("exceeds", "is the mean above its limit, or a known answer missed", {"no", "yes"})}};
}

store::TableSchema validate_figures_schema() {
    return {
        "validate/figures",
        "figures over all training rows; shares, errors and efficiencies as fractions",
        {text("table", "step time, memory, order of layouts, ..."), text("name", "family, file or series"),
         text("measure", "mean, median, P90, worst, tau, ..."), real("value", "1", "nan: nothing to compute it from"),
         integer("rows", "rows, pairs or points behind it"), real("target", "1", "what is wanted; nan: nothing"),
         real("limit", "1", "what fails; nan: nothing"), choice("at_least", "is it a lower limit", {"no", "yes"}),
         choice("exceeds", "is it outside its limit", {"no", "yes"})}};
}

store::TableSchema calibrate_sets_schema() {
    return {"calibrate/sets",
            "sets of efficiencies: rows and errors",
            {text("set", "name"), text("version", "hash of rows and values"), integer("fitted_rows", "rows of the fit"),
             integer("judging_rows", "rows that only judge"),
             real("error_fitted", "1", "mean absolute relative error of the rows of the fit"),
             real("error_held_out", "1", "the same of rows of the fit, each by a fit that has not seen its fold"),
             real("error_judging", "1", "the same of the rows that only judge"),
             real("half_width_90", "1", "half-width of the 90 % interval of step time, from the folds"),
             real("drift", "1", "exponentially weighted mean of ln(predicted / measured), rows in order"),
             real("drift_sigma", "1", "its standard deviation without drift"),
             choice("drifts", "is it beyond three of them", {"no", "yes"})}};
}

store::TableSchema calibrate_parameters_schema() {
    return {
        "calibrate/parameters",
        "values that a fit may move",
        {text("set", "name"), text("name", "key of the calibration file, or release and its name"),
         text("unit", "unit of the numbers of this row"), real("value", "1", "value"),
         real("prior", "1", "value without data"), real("lower", "1", "physical bound"),
         real("upper", "1", "physical bound"), real("low", "1", "95 % interval by bootstrap"),
         real("high", "1", "95 % interval by bootstrap"), integer("rows", "rows of the fit whose step time it moves"),
         choice("assumed", "do the data leave it at its prior", {"no", "yes"})}};
}

store::TableSchema calibrate_residuals_schema() {
    return {"calibrate/residuals",
            "every row of every set",
            {text("set", "name"), text("source", "file of the row"), text("id", "row"),
             text("hash", "64-bit FNV-1a, hexadecimal"), choice("used", "is it a row of the fit", {"no", "yes"}),
             real("measured_s", "s", "measured step time"), real("predicted_s", "s", "predicted step time"),
             real("residual", "1", "ln(predicted / measured)")}};
}

store::TableSchema calibrate_versions_schema() {
    return {"calibrate/versions",
            "values of each version of a set, oldest first",
            {text("set", "name"), text("version", "of the calibration file"), text("name", "value"),
             real("value", "1", "in the unit of calibrate/parameters")}};
}

store::TableSchema calibrate_left_out_schema() {
    return {"calibrate/left_out",
            "rows predicted by fits that have not seen their source",
            {text("source", "file of the row"), text("id", "row"),
             choice("used", "is it a row of the fit", {"no", "yes"}), real("measured_s", "s", "measured step time"),
             real("reported_s", "s", "predicted with its source"), real("left_out_s", "s", "predicted without it")}};
}

store::TableSchema serve_summary_schema() {
    return {"serve/summary",
            "one deployment on one load",
            {integer("trials", "replications"), integer("requests", "requests that count, all replications"),
             integer("steps", "iterations of the engines, all replications"),
             integer("cards", "cards of the deployment or of its decode part"),
             integer("prefill_cards", "cards of the prefill part"),
             integer("num_blocks", "KV blocks of a data-parallel rank"),
             real("kv_bytes_per_token", "byte", "KV cache of a token on a card"),
             real("weights_bytes", "byte", "weights on the fullest card"),
             real("usable_bytes", "byte", "memory that the engine takes"),
             text("policy", "rules of the batches, with the version of the engine"),
             text("problem", "why the deployment cannot work; empty: it can")}};
}

store::TableSchema serve_latency_schema() {
    std::vector<std::string> latencies;
    for (int i = 0; i < serve::num_latencies; ++i) latencies.push_back(serve::to_text(static_cast<serve::Latency>(i)));
    return {"serve/latency", "latencies of the requests that count, a statistic of each replication averaged over them",
            joined({choice("latency", "definitions as in the serving benchmark of vLLM", latencies),
                    choice("statistic", "of the requests of a replication", {"mean", "P50", "P90", "P95", "P99"})},
                   estimate("time", "_s", "s", "that statistic"))};
}

store::TableSchema serve_measures_schema() {
    std::vector<std::string> names;
    for (int i = 0; i < num_serve_measures; ++i) names.push_back(text_of(static_cast<ServeMeasure>(i)).name);
    return {"serve/measures", "throughput, use and limits, averaged over replications",
            joined({choice("measure", "what is measured", names), text("measure_units", "its unit")},
                   estimate("value", "", "1", "in that unit"))};
}

std::vector<store::TableSchema> all_schemas() {
    const std::vector<std::string> variants{"components"};
    std::vector<store::TableSchema> all{search_best_schema(),         search_pareto_schema(),  search_verdicts_schema(),
                                        search_margin_check_schema(), search_designs_schema(), train_summary_schema(),
                                        train_parts_schema(),         train_memory_schema(),   train_timeline_schema()};
    for (const char* group : {"avail", "rehearsal"})
        for (const auto& schema : {trials_summary_schema, trials_quantiles_schema, trials_causes_schema,
                                   trials_phases_schema, trials_job_schema, trials_sensitivity_schema})
            all.push_back(schema(group, variants));
    all.push_back(time_to_tokens_schema(variants));
    all.push_back(sampled_measures_schema());
    for (const auto& schema : {serve_summary_schema, serve_latency_schema, serve_measures_schema})
        all.push_back(schema());
    all.push_back(validate_rows_schema());
    all.push_back(validate_families_schema());
    all.push_back(validate_figures_schema());
    for (const auto& schema : {calibrate_sets_schema, calibrate_parameters_schema, calibrate_residuals_schema,
                               calibrate_versions_schema, calibrate_left_out_schema})
        all.push_back(schema());
    return all;
}

}  // namespace windtunnel::study
