#pragma once
/// Collects the operators of one block while a BlockBuilder adds them, and ties them by their dependencies.
///
/// Model:   the forward operators are a chain in the order of their places; a branch (shared experts) starts behind the
///          operator at which it forks and joins at the next operator of the chain. Backward goes the other way; the
///          gradient of a weight waits for what the gradient of the input waits for, and for its input where that is
///          gathered again. Recompute runs between the two.
#include <vector>

#include "windtunnel/train/operator_graph.hpp"

namespace windtunnel::train {

class GraphRecorder {
public:
    /// Between two calls of the builder, where a collective goes in both directions.
    using Place = int;
    [[nodiscard]] Place here() const noexcept { return 2 * calls_; }
    /// The call of the builder that follows has a place of its own.
    void next_call() noexcept { ++calls_; }

    /// What is added until end_branch() starts behind the operator before `fork`, and the next operator waits for it.
    void begin_branch(Place fork);
    void end_branch() noexcept;

    /// An operator of the call at hand; `rerun`: recompute runs it again.
    void add(const Operator& one, bool rerun = false) { add_at(2 * calls_ - 1, one, rerun); }
    void add_at(Place place, const Operator& one, bool rerun = false);
    /// A collective of the backward pass that only the weight gradient of the call at `place` waits for.
    void add_for_weight(Place place, const Operator& one);
    /// Bytes and parameters of the block that no operator has taken.
    void add_rest(double kept, double parameters, double expert_parameters) noexcept;
    /// Recompute runs every operator again.
    void rerun_all() noexcept { rerun_all_ = true; }
    /// Recompute runs none again: the block keeps everything.
    void rerun_none() noexcept {
        for (Item& item : items_) item.rerun = false;
    }

    [[nodiscard]] OperatorGraph assemble() const;

private:
    struct Item {
        Place place = 0;
        int branch = 0;
        bool rerun = false, for_weight = false;
        Operator one;
    };
    struct Branch {
        Place fork = 0, join = 0;
    };
    std::vector<Item> items_;
    std::vector<Branch> branches_;
    int calls_ = 0, branch_ = 0;  ///< branch 0: the chain; else its number in branches_, from 1
    bool rerun_all_ = false;
};

}  // namespace windtunnel::train
