#pragma once
/// A study with its types taken away: blocks are bytes. The driver's loops are written for this one.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "windtunnel/base/for_blocks.hpp"
#include "windtunnel/study/study.hpp"

namespace windtunnel::driver {

struct AnyStudy {
    std::string identity;
    std::string part_refusal;  ///< empty: --part is possible
    std::vector<store::TableSchema> bulk_tables;

    std::function<std::optional<study::Round>()> next_round;
    std::function<std::string(const study::Round&)> round_context;
    /// Pure: any thread of any rank. The slices run on `for_blocks` and are merged in order.
    std::function<std::string(const study::Round&, std::uint64_t block, std::string_view context,
                              const base::ForBlocks& for_blocks)>
        evaluate;
    std::function<void(const study::Round&, std::uint64_t block, std::string_view payload)> absorb;
    std::function<std::vector<store::Table>()> tables;
    std::function<std::vector<store::Table>(const study::Round&, std::string_view payload)> bulk_rows;
};

/// Items of a block, and of slice `slice` of it.
[[nodiscard]] study::ItemRange block_items(const study::Round& round, std::uint64_t block) noexcept;
[[nodiscard]] std::uint64_t num_slices(const study::Round& round, std::uint64_t block) noexcept;
[[nodiscard]] study::ItemRange slice_items(const study::Round& round, std::uint64_t block,
                                           std::uint64_t slice) noexcept;

/// `study` and `state` must outlive the result.
template <study::Study S>
[[nodiscard]] AnyStudy erase_study(const S& study, typename S::State& state) {
    AnyStudy any;
    any.identity = study.identity();
    if constexpr (requires { study.part_refusal(); })
        any.part_refusal = study.part_refusal();
    else
        any.part_refusal = "this command cannot be cut into parts";
    any.bulk_tables = study.bulk_tables();
    any.next_round = [&] { return study.next_round(state); };
    any.round_context = [&](const study::Round& round) { return std::string{study.round_context(state, round)}; };
    any.evaluate = [&study](const study::Round& round, std::uint64_t block, std::string_view context,
                            const base::ForBlocks& for_blocks) {
        const std::uint64_t slices = num_slices(round, block);
        std::vector<std::optional<typename S::Partial>> partials(slices);
        for_blocks(slices, [&](std::uint64_t slice) {
            partials[slice].emplace(study.evaluate(round, slice_items(round, block, slice), context));
        });
        for (std::uint64_t slice = 1; slice < slices; ++slice) {
            study.merge(*partials[0], *partials[slice]);
            partials[slice].reset();
        }
        return std::string{study.pack(*partials[0])};
    };
    any.absorb = [&](const study::Round& round, std::uint64_t block, std::string_view payload) {
        study.absorb(state, round, block, study.unpack(payload));
    };
    any.tables = [&] { return study.tables(state); };
    any.bulk_rows = [&study](const study::Round& round, std::string_view payload) {
        return study.bulk_rows(round, study.unpack(payload));
    };
    return any;
}

}  // namespace windtunnel::driver
