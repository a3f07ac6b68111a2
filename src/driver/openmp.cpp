#include "windtunnel/driver/openmp.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "windtunnel/parallel/affinity.hpp"
#include "windtunnel/parallel/first_error.hpp"

namespace windtunnel::driver {

base::ForBlocks openmp_for_blocks(int num_threads) {
    if (num_threads <= 1) return base::serial_for_blocks();
    return [num_threads](std::uint64_t num_blocks, const std::function<void(std::uint64_t)>& body) {
        if (num_blocks <= 1) {
            base::serial_for_blocks()(num_blocks, body);
            return;
        }
        parallel::FirstError error;
        const int team = static_cast<int>(std::min<std::uint64_t>(num_blocks, static_cast<std::uint64_t>(num_threads)));
#pragma omp parallel for schedule(dynamic, 1) num_threads(team)
        for (std::uint64_t block = 0; block < num_blocks; ++block) {
            try {
                body(block);
            } catch (...) {
                error.capture(block);
            }
        }
        error.rethrow();
    };
}

int choose_threads(int asked, int ranks_on_same_cores) {
    if (asked > 0) return asked;
    if (const char* text = std::getenv("OMP_NUM_THREADS"); text != nullptr) {
        int threads = 0;
        std::from_chars(text, text + std::strlen(text), threads);
        if (threads > 0) return threads;
    }
    return std::max(1, static_cast<int>(parallel::cores_of_process().size()) / std::max(1, ranks_on_same_cores));
}

}  // namespace windtunnel::driver
