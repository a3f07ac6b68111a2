#pragma once
/// A loop over fixed blocks, given to kernels as a value: the driver runs it on OpenMP threads, tests run it serially.
/// The blocks do not depend on the number of threads, so a kernel that sums per block and then over blocks in order
/// gives the same bits on any number of threads.
#include <cstdint>
#include <functional>

namespace windtunnel::base {

/// Calls body(block) once for each block in 0..num_blocks, in any order, perhaps at the same time.
using ForBlocks = std::function<void(std::uint64_t num_blocks, const std::function<void(std::uint64_t block)>& body)>;

/// One after the other, in order.
[[nodiscard]] inline ForBlocks serial_for_blocks() {
    return [](std::uint64_t num_blocks, const std::function<void(std::uint64_t)>& body) {
        for (std::uint64_t block = 0; block < num_blocks; ++block) body(block);
    };
}

}  // namespace windtunnel::base
