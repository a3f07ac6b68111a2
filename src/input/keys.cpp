#include "windtunnel/input/keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "key_tables.hpp"
#include "windtunnel/base/contracts.hpp"

namespace windtunnel::input {
namespace {

std::string kind_text(const Key& key) {
    const std::string words = fmt::format("{}", fmt::join(key.words, ", "));
    switch (key.kind) {
        case KeyKind::text:
            return "text";
        case KeyKind::word:
            return "one of " + words;
        case KeyKind::integer:
            return "integer";
        case KeyKind::number:
            return key.example.empty() ? "number" : "number or text like \"" + key.example + "\"";
        case KeyKind::quantity: {
            const std::string text = "text like \"" + key.example + "\"";
            return key.words.empty() ? text : text + " or " + words;
        }
        case KeyKind::boolean:
            return "true or false";
        case KeyKind::path:
            return "path";
        case KeyKind::law:
            return "law";
        case KeyKind::integer_axis:
            return key.any_allowed ? "integer, list, range or \"any\"" : "integer, list or range";
        case KeyKind::word_axis:
            return "one or a list of " + words + ", or \"any\"";
        case KeyKind::integer_list:
            return "list of integers";
        case KeyKind::word_list:
            return "list of " + words;
        case KeyKind::text_list:
            return "list of texts";
        case KeyKind::split:
            return words + " or a list of integers";
        case KeyKind::tables:
            return "list of tables";
        case KeyKind::expression:
            return "number or expression";
        case KeyKind::names:
            return "table of own names";
    }
    return {};
}

std::string range_text(const Key& key) {
    switch (key.kind) {
        case KeyKind::integer:
        case KeyKind::number:
        case KeyKind::integer_axis:
        case KeyKind::split:
            break;
        case KeyKind::quantity:
            return key.range.open_least ? "above 0" : "0 or more";
        default:
            return {};
    }
    const Range& range = key.range;
    const std::string least = fmt::format("{} {}", range.open_least ? "above" : "from", range.least);
    if (range.most >= std::numeric_limits<double>::max()) return least;
    return fmt::format("{} {} {}", least, range.open_most ? "to below" : "to", range.most);
}

}  // namespace

const std::vector<KeyFile>& key_table() {
    static const std::vector<KeyFile> files{
        {"plan", "one question: names the other files by a path relative to itself", false, plan_keys()},
        {"model", "structure of a transformer", true, model_keys()},
        {"accelerator", "data sheet of a card", true, accelerator_keys()},
        {"cluster", "cards of one kind in equal nodes", true, cluster_keys()},
        {"failures", "what fails, how often, and how long it takes to mend", true, failures_keys()},
        {"calibration", "what a card and its software reach of the data sheet", false, calibration_keys()},
        {"engine", "what an inference engine reaches of its cards", false, engine_keys()},
        {"chain",
         "a Markov chain in continuous time, what is asked of it, and known answers; see "
         "docs/models/availability-chain.md",
         false, chain_keys()},
        {"machine", "states of recovery, what an action in each takes, and which event leads where", false,
         machine_keys()},
    };
    return files;
}

const KeyFile& key_file(const std::string& kind) {
    const auto& files = key_table();
    const auto found = std::find_if(files.begin(), files.end(), [&](const KeyFile& file) { return file.kind == kind; });
    base::expects(found != files.end(), "kind of file");
    return *found;
}

std::string keys_as_markdown() {
    std::string page =
        "# Input files\n\n"
        "Generated from the table of keys that the reader uses; a test compares the two.\n\n"
        "All files are TOML. Counts are integers; a quantity with a dimension is text with its unit: ns us ms s min h "
        "days "
        "weeks years, B kB MB GB TB PB (powers of 1000), KiB MiB GiB TiB PiB (powers of 1024), bit kbit Mbit Gbit "
        "Tbit, "
        "FLOP to YFLOP, J to GJ, Wh to GWh, W to GW, USD, %, and one of these over another. An unknown key is an "
        "error.\n\n"
        "Where a file needs sources, a value is `{ value = \"25 GB/s\", source = \"...\", basis = \"read\" }` or "
        "stands plain "
        "under a `source` of its table or of the file; basis is read, recalled, derived, measured, published or "
        "assumed. What is recalled or "
        "assumed is printed with every answer that uses it.\n\n"
        "A range is `{ from = 1, to = 64, step = 1 }` or `{ from = 1, to = 64, factor = 2 }`; an axis has at most "
        "1,000,000 "
        "values.\n\n"
        "A law is a table: `{ law = \"exponential\", mean = \"24 h\" }`, `{ law = \"weibull\", shape = 0.75, scale = "
        "\"60000 "
        "h\" }`, `{ law = \"lognormal\", median = \"2 h\", sigma = 0.8 }`, `{ law = \"gamma\", shape = 2, scale = \"1 "
        "h\" }`, "
        "`{ law = \"deterministic\", value = \"600 s\" }`, or a fixed time as text. A law may carry source and "
        "basis.\n";
    for (const KeyFile& file : key_table()) {
        page += fmt::format("\n## {}\n\n{}{}.\n\n| key | kind | allowed | default | meaning |\n|---|---|---|---|---|\n",
                            file.kind, file.about, file.needs_sources ? "; every value needs a source" : "");
        for (const Key& key : file.keys)
            page += fmt::format("| `{}` | {} | {} | {} | {} |\n", key.path, kind_text(key), range_text(key),
                                key.fallback, key.meaning);
    }
    return page;
}

}  // namespace windtunnel::input
