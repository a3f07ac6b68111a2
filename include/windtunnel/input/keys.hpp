#pragma once
/// The declared keys of every kind of input file. The table drives reading, the findings about unknown keys, the
/// defaults and the page docs/inputs.md.
#include <limits>
#include <string>
#include <vector>

namespace windtunnel::input {

enum class KeyKind {
    text,  ///< a label: needs no source
    word,  ///< one of `words`
    integer,
    number,    ///< integer or real; a text with "%" where `example` has it
    quantity,  ///< text with the dimension of `example`; one of `words` where there are any
    boolean,
    path,          ///< of another input file, relative to this file
    law,           ///< table of a random time, or a fixed time as text
    integer_axis,  ///< one integer, a list, {from, to, step | factor}, or "any" where `any_allowed`
    word_axis,     ///< one word, a list of words, or "any"
    integer_list,
    word_list,  ///< list of `words`
    text_list,
    split,       ///< pipeline_split: a word or a list of layers per chunk
    tables,      ///< [[list of tables]]; the keys of one stand below as path[].key
    expression,  ///< number or text of an expression
    names,       ///< table of names of the author's own
};

/// Allowed range of a number.
struct Range {
    double least = 0.0;
    double most = std::numeric_limits<double>::max();
    bool open_least = false;  ///< the least value itself is not allowed
    bool open_most = false;
};

struct Key {
    std::string path;  ///< dotted; path[].key for a key of a list of tables
    KeyKind kind = KeyKind::text;
    std::string fallback;   ///< TOML text of the default; "required", or "none": may be missing
    std::string meaning;    ///< one line
    std::string example{};  ///< quantity: for example "25 GB/s"; gives the dimension
    Range range{};
    std::vector<std::string> words{};
    bool any_allowed = true;
};

/// One kind of file: plan, model, accelerator, cluster, failures, calibration.
struct KeyFile {
    std::string kind;
    std::string about;  ///< one line
    bool needs_sources = false;
    std::vector<Key> keys;
};

/// Every kind of file, in the order of the page.
[[nodiscard]] const std::vector<KeyFile>& key_table();
[[nodiscard]] const KeyFile& key_file(const std::string& kind);

/// The page docs/inputs.md.
[[nodiscard]] std::string keys_as_markdown();

}  // namespace windtunnel::input
