#include "windtunnel/parallel/affinity.hpp"

#include <sched.h>

#include <cerrno>
#include <memory>

namespace windtunnel::parallel {

std::vector<int> cores_of_process() {
    std::vector<int> cores;
    for (int limit = 1024; limit <= 1 << 20; limit *= 2) {
        const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set{CPU_ALLOC(static_cast<std::size_t>(limit)),
                                                                   [](cpu_set_t* memory) { CPU_FREE(memory); }};
        const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(limit));
        if (!set) break;
        CPU_ZERO_S(bytes, set.get());
        if (::sched_getaffinity(0, bytes, set.get()) != 0) {
            if (errno == EINVAL) continue;  // more cores than the set holds
            break;
        }
        for (int core = 0; core < limit; ++core)
            if (CPU_ISSET_S(static_cast<std::size_t>(core), bytes, set.get())) cores.push_back(core);
        break;
    }
    if (cores.empty()) cores.push_back(0);
    return cores;
}

std::string core_list(const std::vector<int>& cores) {
    std::string text;
    for (std::size_t begin = 0; begin < cores.size();) {
        std::size_t end = begin + 1;
        while (end < cores.size() && cores[end] == cores[end - 1] + 1) ++end;
        if (!text.empty()) text += ',';
        text += std::to_string(cores[begin]);
        if (end - begin > 1) text += '-' + std::to_string(cores[end - 1]);
        begin = end;
    }
    return text;
}

}  // namespace windtunnel::parallel
