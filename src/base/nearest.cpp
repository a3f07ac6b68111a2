#include "windtunnel/base/nearest.hpp"

#include <algorithm>
#include <vector>

namespace windtunnel::base {

int edit_distance(std::string_view a, std::string_view b) {
    const std::size_t width = b.size() + 1;
    std::vector<int> before_last(width), last(width), now(width);
    for (std::size_t j = 0; j < width; ++j) last[j] = static_cast<int>(j);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        now[0] = static_cast<int>(i);
        for (std::size_t j = 1; j < width; ++j) {
            const int replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            now[j] = std::min({last[j] + 1, now[j - 1] + 1, replaced});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) now[j] = std::min(now[j], before_last[j - 2] + 1);
        }
        std::swap(before_last, last);
        std::swap(last, now);
    }
    return last[width - 1];
}

std::string nearest_name(std::string_view name, std::span<const std::string> known) {
    constexpr std::size_t longest = 200;
    std::string nearest;
    int least = 0;
    for (const std::string& candidate : known) {
        const int distance = edit_distance(name.substr(0, longest), std::string_view{candidate}.substr(0, longest));
        if (nearest.empty() || distance < least) {
            nearest = candidate;
            least = distance;
        }
    }
    return nearest;
}

}  // namespace windtunnel::base
