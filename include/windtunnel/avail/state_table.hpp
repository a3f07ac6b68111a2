#pragma once
/// The states that paths of a chain come through, worked out when a path first comes there and then ready to be drawn.
#include <cstdint>
#include <vector>

#include "windtunnel/avail/state_space.hpp"
#include "windtunnel/model/chain.hpp"

namespace windtunnel::avail {

__extension__ using TwoWords = unsigned __int128;

/// A chain as a table that grows with its paths: any number of states, as long as paths visit few of them.
///
/// Model:   Each state holds its mean time, and its transitions as an alias table: one random word chooses one.
///          Transitions with a clock of their own are no part of it; `clocks` says how many run.
/// Inputs:  a chain without findings of its own; functions of the copy belong to one thread.
/// Returns: base::InputError for a rate or reward that is no number, and for values out of bounds.
/// Limits:  most_states of the chain (or fewer): more visited ones are an error.
/// Source:  Walker, ACM Transactions on Mathematical Software 3(3), 1977 (alias method).
class StateTable {
public:
    explicit StateTable(const model::Chain& chain);

    struct Row {
        double mean_time = 0.0;  ///< infinite: cannot be left
        std::uint32_t first = 0, count = 0;
        bool known = false;
    };
    struct Option {
        std::uint64_t threshold = 0;  ///< below: itself, else the other one
        std::uint32_t target = 0, other = 0;
    };

    [[nodiscard]] static constexpr std::uint32_t initial() noexcept { return 0; }
    [[nodiscard]] const model::Chain& chain() const noexcept { return chain_; }
    [[nodiscard]] std::size_t num_found() const noexcept { return states_.size(); }  ///< visited or next to one

    [[nodiscard]] const Row& row(std::uint32_t state) {
        if (!rows_[state].known) [[unlikely]]
            work_out(state);
        return rows_[state];
    }
    [[nodiscard]] const Row& known_row(std::uint32_t state) const noexcept { return rows_[state]; }
    /// Where the random word `bits` leads from a state that can be left.
    [[nodiscard]] std::uint32_t next(const Row& row, std::uint64_t bits) const noexcept {
        const auto product = static_cast<TwoWords>(bits) * row.count;
        const Option& option = options_[row.first + static_cast<std::uint32_t>(product >> 64U)];
        return static_cast<std::uint64_t>(product) < option.threshold ? option.target : option.other;
    }
    /// Rates out of a known state, as they are; equal targets may stand there twice.
    [[nodiscard]] std::uint32_t target(std::uint32_t index) const noexcept { return targets_[index]; }
    [[nodiscard]] double rate(std::uint32_t index) const noexcept { return rates_[index]; }
    [[nodiscard]] std::uint32_t transition(std::uint32_t index) const noexcept { return transitions_[index]; }

    /// Of a known state.
    [[nodiscard]] double reward(std::uint32_t state, std::size_t index) const noexcept {
        return rewards_[state * num_rewards_ + index];
    }
    [[nodiscard]] bool is_target(std::uint32_t state, std::size_t measure) const noexcept {
        return (marks_[state * num_measures_ + measure] & 1U) != 0;
    }
    /// Ends an attempt without success; a target that is also to be avoided counts as reached.
    [[nodiscard]] bool is_avoided(std::uint32_t state, std::size_t measure) const noexcept {
        return marks_[state * num_measures_ + measure] == 2;
    }
    /// The values of its variables.
    void read(std::uint32_t state, std::vector<double>& values) const { states_.read(state, values); }

private:
    void work_out(std::uint32_t state);
    void find_options(std::uint32_t state);
    void make_aliases(const Row& row);
    [[nodiscard]] bool update(const model::ChainTransition& transition);
    [[noreturn]] void fail(const model::FilePlace& place, const std::string& message,
                           const std::string& expected) const;

    model::Chain chain_;
    std::size_t num_rewards_ = 0, num_measures_ = 0;
    PackedStates states_;
    std::vector<Row> rows_;
    std::vector<Option> options_;
    std::vector<std::uint32_t> targets_, transitions_;
    std::vector<double> rates_, rewards_;
    std::vector<std::uint8_t> marks_;
    std::vector<double> now_, after_, events_;
};

}  // namespace windtunnel::avail
