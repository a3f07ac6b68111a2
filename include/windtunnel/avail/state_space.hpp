#pragma once
/// All states that a chain of the user can reach, with its transitions and rewards.
#include <optional>
#include <string>
#include <vector>

#include "windtunnel/avail/sparse_chain.hpp"
#include "windtunnel/base/errors.hpp"
#include "windtunnel/model/chain.hpp"

namespace windtunnel::avail {

/// Values of the variables of many states, packed into whole words.
class PackedStates {
public:
    explicit PackedStates(const std::vector<model::ChainVariable>& variables);
    [[nodiscard]] std::size_t size() const noexcept { return words_.size() / num_words_; }
    void read(std::size_t state, std::vector<double>& values) const;
    /// Index of these values, new or known; every value within its bounds.
    [[nodiscard]] std::uint32_t find_or_add(const std::vector<double>& values);

private:
    struct Field {
        std::size_t word;
        unsigned shift;
        std::uint64_t mask;
        double least;
    };
    [[nodiscard]] std::uint64_t hash(const std::uint64_t* words) const noexcept;
    void grow();

    std::vector<Field> fields_;
    std::size_t num_words_ = 1;
    std::vector<std::uint64_t> words_;
    std::vector<std::uint32_t> slots_;  ///< open addressing; 0: free, else index + 1
    std::vector<std::uint64_t> packed_;
};

struct StateSpace {
    SparseChain chain;
    PackedStates states;
    std::vector<std::vector<double>> rewards;       ///< [reward][state]: per time, events at their rate included
    std::vector<std::vector<std::uint8_t>> target;  ///< [measure][state]; empty where the measure has none
    std::vector<std::vector<std::uint8_t>> avoid;   ///< [measure][state]
    std::vector<base::Finding> findings;            ///< the model is wrong: nothing else counts
};

/// Breadth-first search from the initial state.
///
/// Model:   a transition is possible where its guard is not 0 and its rate above 0; updates read the old values.
/// Returns: findings for a negative or infinite rate, a value that is no integer or out of bounds, and for more states
///          than chain.most_states (or 16 times as many transitions): time and memory are bounded by that number.
[[nodiscard]] StateSpace explore(const model::Chain& chain);

/// "up=3, busy=0"
[[nodiscard]] std::string state_text(const model::Chain& chain, const std::vector<double>& values);

}  // namespace windtunnel::avail
