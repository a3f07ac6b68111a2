#pragma once
/// Runs a study to its end in one thread, as the driver does, through packed records.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>

#include "windtunnel/study/study.hpp"

namespace windtunnel::test {

/// `cuts`: slices of a block that are merged; `seen` gets every partial result in order.
template <study::Study S>
typename S::State run(const S& study, std::uint64_t cuts = 1,
                      const std::function<void(const study::Round&, const typename S::Partial&)>& seen = {}) {
    typename S::State state = study.start();
    while (const auto round = study.next_round(state)) {
        const std::string context = study.round_context(state, *round);
        for (std::uint64_t block = 0; block < round->num_blocks(); ++block) {
            const std::uint64_t begin = block * round->items_per_block;
            const std::uint64_t count = std::min(round->items_per_block, round->num_items - begin);
            const auto range = [&](std::uint64_t cut) {
                return study::ItemRange{round->first_item + begin + count * cut / cuts,
                                        round->first_item + begin + count * (cut + 1) / cuts};
            };
            typename S::Partial partial = study.evaluate(*round, range(0), context);
            for (std::uint64_t cut = 1; cut < cuts; ++cut)
                study.merge(partial, study.evaluate(*round, range(cut), context));
            partial = study.unpack(study.pack(partial));
            if (seen) seen(*round, partial);
            study.absorb(state, *round, block, partial);
        }
    }
    return state;
}

/// Everything that the study says, as one text; equal texts mean equal bits.
template <study::Study S>
std::string run_tables(const S& study, std::uint64_t cuts = 1) {
    std::string text;
    const auto add = [&text](const store::Table& table) {
        text += table.schema.path + "\n";
        for (const store::ColumnValues& column : table.columns)
            std::visit(
                [&text](const auto& values) {
                    for (const auto& value : values) {
                        if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>)
                            text.append(reinterpret_cast<const char*>(&value), sizeof value);
                        else
                            text += value;
                    }
                },
                column);
    };
    const auto state = run(study, cuts, [&](const study::Round& round, const typename S::Partial& partial) {
        for (const store::Table& table : study.bulk_rows(round, partial)) add(table);
    });
    for (const store::Table& table : study.tables(state)) add(table);
    return text;
}

}  // namespace windtunnel::test
