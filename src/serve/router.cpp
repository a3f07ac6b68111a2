#include "windtunnel/serve/router.hpp"

#include <algorithm>

namespace windtunnel::serve {

std::size_t Router::least(std::size_t active) const noexcept {
    return static_cast<std::size_t>(
        std::min_element(load_.begin(), load_.begin() + static_cast<std::ptrdiff_t>(active)) - load_.begin());
}

std::size_t Router::choose(std::size_t active) {
    if (routing_ == model::Routing::round_robin) return turn_++ % active;
    if (routing_ != model::Routing::power_of_two) return least(active);
    const auto draw = [&] {
        return std::min(active - 1, static_cast<std::size_t>(draws_.uniform() * static_cast<double>(active)));
    };
    const std::size_t a = draw(), b = draw();
    return load_[b] < load_[a] ? b : a;
}

}  // namespace windtunnel::serve
