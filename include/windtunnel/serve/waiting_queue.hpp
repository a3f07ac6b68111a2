#pragma once
/// Requests that wait at a rank: first come first served, urgent ones first, or the shortest prompt first.
///
/// Model:   ties go to the earlier arrival. A request that gave way keeps its place in the order; in the order of
///          arrival it goes to the front.
/// Source:  vLLM V1 queues (documented behaviour); shortest first: any text on scheduling.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <tuple>
#include <vector>

#include "windtunnel/model/serving.hpp"

namespace windtunnel::serve {

class WaitingQueue {
public:
    struct Item {
        std::int64_t rank = 0;  ///< smaller goes first
        std::int64_t number = 0;
        std::int32_t slot = 0;
    };
    explicit WaitingQueue(model::QueueOrder order) : order_{order} {}

    [[nodiscard]] bool empty() const noexcept { return first_come() ? queue_.empty() : heap_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return first_come() ? queue_.size() : heap_.size(); }
    [[nodiscard]] std::int32_t front() const noexcept { return first_come() ? queue_.front() : heap_.front().slot; }

    void push(std::int32_t slot, std::int64_t number, std::int32_t urgency, std::int32_t input) {
        if (first_come()) return queue_.push_back(slot);
        heap_.push_back({order_ == model::QueueOrder::priority ? urgency : input, number, slot});
        std::push_heap(heap_.begin(), heap_.end(), later);
    }
    void push_front(std::int32_t slot, std::int64_t number, std::int32_t urgency, std::int32_t input) {
        if (first_come()) return queue_.push_front(slot);
        push(slot, number, urgency, input);
    }
    void pop() {
        if (first_come()) return queue_.pop_front();
        std::pop_heap(heap_.begin(), heap_.end(), later);
        heap_.pop_back();
    }

private:
    [[nodiscard]] bool first_come() const noexcept { return order_ == model::QueueOrder::first_come; }
    [[nodiscard]] static bool later(const Item& a, const Item& b) noexcept {
        return std::tie(a.rank, a.number) > std::tie(b.rank, b.number);
    }
    model::QueueOrder order_;
    std::deque<std::int32_t> queue_;
    std::vector<Item> heap_;
};

}  // namespace windtunnel::serve
