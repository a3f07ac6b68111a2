#pragma once
/// Which rank gets a request.
///
/// Model:   round robin; fewest unfinished requests, the first of equals; the better of two drawn at random; the rank
///          whose cache holds most of the prompt, if it holds half of it and has at most 32 requests more than the
///          least loaded one (the rules of SGLang's cache-aware router), else the least loaded.
/// Source:  power of two choices: Mitzenmacher, IEEE TPDS 12(10), 2001; SGLang router documentation.
#include <cstdint>
#include <vector>

#include "windtunnel/base/philox.hpp"
#include "windtunnel/model/serving.hpp"

namespace windtunnel::serve {

class Router {
public:
    Router(model::Routing routing, std::size_t ranks, const base::RandomStream& stream)
        : routing_{routing}, load_(ranks, 0), draws_{stream} {}

    /// Among the first `active` ranks. `cached(rank)`: tokens of the prompt of `prompt` tokens that it holds.
    template <class Cached>
    [[nodiscard]] std::size_t choose(std::size_t active, std::int64_t prompt, const Cached& cached) {
        if (routing_ != model::Routing::prefix_aware) return choose(active);
        constexpr int most_more = 32;
        std::size_t best = 0;
        std::int64_t most = -1;
        for (std::size_t rank = 0; rank < active; ++rank) {
            const std::int64_t tokens = cached(rank);
            if (tokens > most || (tokens == most && load_[rank] < load_[best])) most = tokens, best = rank;
        }
        const std::size_t idle = least(active);
        return 2 * most >= prompt && load_[best] <= load_[idle] + most_more ? best : idle;
    }
    /// Without a look at caches.
    [[nodiscard]] std::size_t choose(std::size_t active);
    void add(std::size_t rank, int requests) noexcept { load_[rank] += requests; }
    [[nodiscard]] int load(std::size_t rank) const noexcept { return load_[rank]; }

private:
    [[nodiscard]] std::size_t least(std::size_t active) const noexcept;

    model::Routing routing_;
    std::vector<std::int32_t> load_;  ///< unfinished requests of each rank
    std::size_t turn_ = 0;
    base::Draws draws_;
};

}  // namespace windtunnel::serve
