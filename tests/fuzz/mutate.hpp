#pragma once
/// Random damage to text, the same for the same seed: byte flips, other numbers and words, cuts, copies, deletions.
#include <algorithm>
#include <cctype>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace windtunnel::fuzz {

using Random = std::mt19937_64;

inline std::size_t below(Random& random, std::size_t end) {
    return end == 0 ? 0 : static_cast<std::size_t>(random() % end);
}

/// Words that have broken readers before.
inline constexpr std::string_view spice[] = {"0",
                                             "-1",
                                             "1",
                                             "2",
                                             "3",
                                             "7",
                                             "1000000",
                                             "1000001",
                                             "10000000",
                                             "2147483647",
                                             "2147483648",
                                             "-2147483649",
                                             "9223372036854775807",
                                             "-9223372036854775808",
                                             "9223372036854775808",
                                             "1e308",
                                             "1e999",
                                             "-1e308",
                                             "inf",
                                             "-inf",
                                             "nan",
                                             "0.0",
                                             "-0.0",
                                             "1e-320",
                                             "0.5",
                                             "\"any\"",
                                             "\"\"",
                                             "true",
                                             "false",
                                             "[]",
                                             "[[]]",
                                             "{}",
                                             "{ from = 1, to = 1000000 }",
                                             "{ from = 1, to = 1000000000000000000 }",
                                             "{ from = 0, to = 9223372036854775807, step = 9223372036854775807 }",
                                             "{ from = 1, to = 1000000, factor = 2 }",
                                             "[1, 2, 3]",
                                             "\"64 GiB\"",
                                             "\"1e300 h\"",
                                             "\"0 s\"",
                                             "\"-5 GB/s\"",
                                             "\"inf s\"",
                                             "{ law = \"weibull\", shape = 0.75, scale = \"60000 h\" }",
                                             "{ value = 5, source = \"x\" }",
                                             "{ value = { value = 5 } }",
                                             "null",
                                             "1979-05-27",
                                             "\"\\u0000\"",
                                             "\xff",
                                             "\xed\xa0\x80",
                                             "\n",
                                             "[",
                                             "]",
                                             "{",
                                             "}",
                                             "\"",
                                             "'''",
                                             "\"\"\"",
                                             "=",
                                             ".",
                                             ",",
                                             "#"};

inline bool is_token(char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '.' || letter == '-';
}

/// Begin and end of the token at or behind a place.
inline std::pair<std::size_t, std::size_t> token_at(const std::string& text, std::size_t place) {
    std::size_t begin = place;
    while (begin < text.size() && !is_token(text[begin])) ++begin;
    while (begin > 0 && is_token(text[begin - 1])) --begin;
    std::size_t end = begin;
    while (end < text.size() && is_token(text[end])) ++end;
    return {begin, end};
}

/// Begin and end of the line at a place, with its newline.
inline std::pair<std::size_t, std::size_t> line_at(const std::string& text, std::size_t place) {
    const std::size_t before = place == 0 ? std::string::npos : text.rfind('\n', place - 1);
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    const std::size_t end = text.find('\n', place);
    return {begin, end == std::string::npos ? text.size() : end + 1};
}

inline void mutate_once(std::string& text, Random& random) {
    constexpr std::size_t longest = 64 * 1024;
    if (text.size() > longest) text.resize(longest);
    const std::size_t place = below(random, text.size() + 1);
    const auto word = [&] { return spice[below(random, std::size(spice))]; };
    switch (below(random, 11)) {
        case 0:  // one bit
            if (place < text.size()) text[place] = static_cast<char>(text[place] ^ (1 << below(random, 8)));
            return;
        case 1:  // one byte
            if (place < text.size()) text[place] = static_cast<char>(random() & 0xFF);
            return;
        case 2:
        case 3: {  // another token
            const auto [begin, end] = token_at(text, place);
            text.replace(begin, end - begin, word());
            return;
        }
        case 4: {  // two tokens change places
            const auto [a, a_end] = token_at(text, place);
            const auto [b, b_end] = token_at(text, below(random, text.size() + 1));
            if (a_end > b || b_end > text.size()) return;
            const std::string first = text.substr(a, a_end - a), second = text.substr(b, b_end - b);
            text.replace(b, b_end - b, first);
            text.replace(a, a_end - a, second);
            return;
        }
        case 5:
            text.insert(place, word());
            return;
        case 6:
            text.resize(place);
            return;
        case 7: {  // a line is lost
            const auto [begin, end] = line_at(text, place);
            text.erase(begin, end - begin);
            return;
        }
        case 8: {  // a line stands twice, or somewhere else too
            const auto [begin, end] = line_at(text, place);
            const std::string line = text.substr(begin, end - begin);
            text.insert(line_at(text, below(random, text.size() + 1)).first, line);
            return;
        }
        case 9: {  // the value of a line is another one
            const auto [begin, end] = line_at(text, place);
            const std::size_t equals = text.find('=', begin);
            if (equals < end) text.replace(equals + 1, end - equals - 1, " " + std::string{word()} + "\n");
            return;
        }
        default: {  // a letter of a token is lost, doubled or changed
            const auto [begin, end] = token_at(text, place);
            if (begin == end) return;
            const std::size_t at = begin + below(random, end - begin);
            if (random() % 2 == 0)
                text.erase(at, 1);
            else
                text.insert(at, 1, text[at]);
            return;
        }
    }
}

/// One to four mutations.
inline std::string mutated(std::string text, Random& random) {
    for (std::size_t n = 1 + below(random, 4); n > 0; --n) mutate_once(text, random);
    return text;
}

}  // namespace windtunnel::fuzz
