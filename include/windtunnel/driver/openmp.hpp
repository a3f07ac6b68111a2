#pragma once
/// Threads inside a rank.
#include "windtunnel/base/for_blocks.hpp"

namespace windtunnel::driver {

/// Blocks on `num_threads` OpenMP threads, handed out one by one. An exception of a body is thrown to the caller after
/// the loop: the one of the lowest block that threw. One thread or one block: a plain loop.
[[nodiscard]] base::ForBlocks openmp_for_blocks(int num_threads);

/// `asked` when it is above 0; else OMP_NUM_THREADS; else the cores of the affinity mask shared among the ranks on
/// them. At least 1.
[[nodiscard]] int choose_threads(int asked, int ranks_on_same_cores);

}  // namespace windtunnel::driver
