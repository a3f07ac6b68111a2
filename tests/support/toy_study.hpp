#pragma once
/// A small study for tests of the driver: sums of Philox draws, whose last bits depend on the order of addition, in
/// two phases, the second of which has a stop rule and takes what the first one found.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "windtunnel/base/errors.hpp"
#include "windtunnel/base/pack.hpp"
#include "windtunnel/base/philox.hpp"
#include "windtunnel/study/study.hpp"

namespace windtunnel::tests {

struct ToyOptions {
    std::uint64_t seed = 1;
    std::uint64_t first_items = 400;  ///< of phase 0
    std::uint64_t round_items = 100;  ///< of each round of phase 1
    std::uint64_t items_per_block = 8;
    std::uint64_t items_per_slice = 2;
    double half_width = 0.01;                    ///< phase 1 ends when the standard error is below
    std::uint64_t draws_per_item = 10;           ///< work
    std::uint64_t throw_at = ~std::uint64_t{0};  ///< item of phase 0 whose evaluation fails
    bool throw_input_error = false;
    bool bulk = false;  ///< one row per item
};

class ToyStudy {
public:
    struct Partial {
        double sum = 0.0;
        double squares = 0.0;
        std::uint64_t count = 0;
        std::vector<double> values;  ///< of each item
    };
    struct State {
        Partial first;
        Partial second;
        std::uint32_t second_rounds = 0;
    };

    explicit ToyStudy(ToyOptions options) : options_{options} {}

    [[nodiscard]] std::string identity() const {
        return "study = toy\nfirst_items = " + std::to_string(options_.first_items) +
               "\nround_items = " + std::to_string(options_.round_items) +
               "\nitems_per_block = " + std::to_string(options_.items_per_block) +
               "\nhalf_width = " + std::to_string(options_.half_width) +
               "\nbulk = " + std::to_string(options_.bulk ? 1 : 0) + "\n";
    }
    [[nodiscard]] std::string part_refusal() const { return {}; }
    [[nodiscard]] State start() const { return {}; }

    [[nodiscard]] std::optional<study::Round> next_round(const State& state) const {
        if (state.first.count < options_.first_items)
            return study::Round{
                0, 0, 0, options_.first_items, options_.items_per_block, options_.items_per_slice, "toy: sums"};
        const std::uint64_t rounds = options_.round_items == 0 ? 0 : state.second.count / options_.round_items;
        if (options_.round_items == 0 || rounds >= 50 || (rounds > 0 && error_of(state.second) < options_.half_width))
            return std::nullopt;
        return study::Round{1,
                            static_cast<std::uint32_t>(1 + rounds),
                            rounds * options_.round_items,
                            options_.round_items,
                            options_.items_per_block,
                            options_.items_per_slice,
                            "toy: rounds"};
    }
    [[nodiscard]] std::string round_context(const State& state, const study::Round&) const {
        base::Packer packer;
        packer.put(state.first.count == 0 ? 0.0 : state.first.sum / static_cast<double>(state.first.count));
        return std::move(packer).take();
    }
    [[nodiscard]] Partial evaluate(const study::Round& round, study::ItemRange items, std::string_view context) const {
        const double shift = base::Unpacker{context}.get<double>();
        Partial partial;
        for (std::uint64_t item = items.begin; item < items.end; ++item) {
            if (round.phase == 0 && item == options_.throw_at) {
                if (options_.throw_input_error)
                    throw base::InputError{{{"toy.toml", 3, 1, "item", "the item is bad", "another"}}};
                throw base::RunError{"the item fails"};
            }
            base::Draws draws{{options_.seed, 100 + round.phase, item}};
            double value = 0.0;
            for (std::uint64_t draw = 0; draw < options_.draws_per_item; ++draw) value += draws.uniform() - shift;
            value /= static_cast<double>(options_.draws_per_item);
            partial.sum += value;
            partial.squares += value * value;
            ++partial.count;
            if (options_.bulk) partial.values.push_back(value);
        }
        return partial;
    }
    void merge(Partial& partial, const Partial& other) const {
        partial.sum += other.sum;
        partial.squares += other.squares;
        partial.count += other.count;
        partial.values.insert(partial.values.end(), other.values.begin(), other.values.end());
    }
    [[nodiscard]] std::string pack(const Partial& partial) const {
        base::Packer packer;
        packer.put(partial.sum);
        packer.put(partial.squares);
        packer.put(partial.count);
        packer.put(partial.values);
        return std::move(packer).take();
    }
    [[nodiscard]] Partial unpack(std::string_view bytes) const {
        base::Unpacker unpacker{bytes};
        Partial partial;
        partial.sum = unpacker.get<double>();
        partial.squares = unpacker.get<double>();
        partial.count = unpacker.get<std::uint64_t>();
        partial.values = unpacker.get_vector<double>();
        return partial;
    }
    void absorb(State& state, const study::Round& round, std::uint64_t, const Partial& partial) const {
        Partial without_rows = partial;
        without_rows.values.clear();
        merge(round.phase == 0 ? state.first : state.second, without_rows);
    }
    [[nodiscard]] std::vector<store::Table> tables(const State& state) const {
        store::Table table =
            store::empty_table({"toy/sums",
                                "Sums of the two phases",
                                {{"phase", store::ColumnType::enumeration, "1", "Phase", {"first", "second"}},
                                 {"sum", store::ColumnType::real, "1", "Sum of the items", {}},
                                 {"squares", store::ColumnType::real, "1", "Sum of the squares", {}},
                                 {"count", store::ColumnType::integer, "1", "Number of items", {}},
                                 {"name", store::ColumnType::text, "1", "Name in UTF-8", {}}}});
        for (const auto& [phase, partial] : {std::pair{0, &state.first}, std::pair{1, &state.second}}) {
            std::get<std::vector<std::int64_t>>(table.columns[0]).push_back(phase);
            std::get<std::vector<double>>(table.columns[1]).push_back(partial->sum);
            std::get<std::vector<double>>(table.columns[2]).push_back(partial->squares);
            std::get<std::vector<std::int64_t>>(table.columns[3]).push_back(static_cast<std::int64_t>(partial->count));
            std::get<std::vector<std::string>>(table.columns[4]).push_back(phase == 0 ? "erste" : "zw\u00f6lfte");
        }
        return {std::move(table)};
    }
    [[nodiscard]] std::vector<store::TableSchema> bulk_tables() const {
        if (!options_.bulk) return {};
        return {{"toy/items",
                 "Value of each item",
                 {{"value", store::ColumnType::real, "1", "Mean of the draws", {}},
                  {"sign", store::ColumnType::text, "1", "Sign of the value", {}}}}};
    }
    [[nodiscard]] std::vector<store::Table> bulk_rows(const study::Round&, const Partial& partial) const {
        if (!options_.bulk) return {};
        store::Table table = store::empty_table(bulk_tables().front());
        std::get<std::vector<double>>(table.columns[0]) = partial.values;
        for (const double value : partial.values)
            std::get<std::vector<std::string>>(table.columns[1]).push_back(value < 0 ? "minus" : "+");
        return {std::move(table)};
    }

private:
    [[nodiscard]] static double error_of(const Partial& partial) {
        const double count = static_cast<double>(partial.count);
        const double mean = partial.sum / count;
        return std::sqrt(std::max(0.0, partial.squares / count - mean * mean) / count);
    }
    ToyOptions options_;
};
static_assert(study::Study<ToyStudy>);

}  // namespace windtunnel::tests
