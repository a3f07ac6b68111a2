#include "windtunnel/report/job_script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "windtunnel/report/units.hpp"

namespace windtunnel::report {
namespace {

constexpr double efficiency = 0.9, reserve_factor = 1.5;
constexpr int reserve_minutes = 10, most_minutes = 14 * 24 * 60, threads_of_a_rank = 8;
constexpr double seconds_per_minute = 60.0;

}  // namespace

JobSize job_size(Seconds core_time, const JobWish& wish) noexcept {
    JobSize size;
    const double cores = std::max(1, wish.cores_per_node), work = std::max(0.0, core_time.value()) / efficiency;
    const double needed = std::ceil(work / (cores * std::max(1.0, wish.wanted.value())));
    size.nodes = wish.nodes ? std::clamp(*wish.nodes, 1, most_nodes)
                            : static_cast<int>(std::clamp(needed, 1.0, double{most_nodes}));
    size.ranks_per_node = std::max(1, wish.cores_per_node / threads_of_a_rank);
    size.threads_per_rank = std::max(1, wish.cores_per_node / size.ranks_per_node);
    size.run_time = Seconds{work / (cores * size.nodes)};
    const double minutes = reserve_minutes + std::ceil(reserve_factor * size.run_time.value() / seconds_per_minute);
    size.limit_minutes = static_cast<int>(std::min(minutes, double{most_minutes}));
    return size;
}

std::string shell_word(const std::string& text) {
    std::string word = "'";
    for (const char letter : text) word += letter == '\'' ? std::string{"'\\''"} : std::string(1, letter);
    return word + "'";
}

std::string job_script(const std::string& command, const std::string& plan, const std::string& result,
                       const std::string& items, const JobSize& size) {
    std::string text = fmt::format(
        "#!/bin/bash\n"
        "#SBATCH --job-name=windtunnel-{}\n"
        "#SBATCH --nodes={}\n"
        "#SBATCH --ntasks-per-node={}\n"
        "#SBATCH --cpus-per-task={}\n"
        "#SBATCH --time={}\n"
        "#SBATCH --signal=B:USR1@120\n"
        "#SBATCH --requeue\n"
        "#SBATCH --open-mode=append\n",
        command, size.nodes, size.ranks_per_node, size.threads_per_rank, size.limit_minutes);
    text += fmt::format("# {}; about {} on {} cores.\n", items, human(size.run_time),
                        size.nodes * size.ranks_per_node * size.threads_per_rank);
    text +=
        "# Two minutes before the limit Slurm sends USR1: the run writes its journal and ends with 75, the job is "
        "requeued\n"
        "# and goes on where it stopped.\n"
        "set -u\n"
        "export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1} SRUN_CPUS_PER_TASK=${SLURM_CPUS_PER_TASK:-1}\n"
        "export OMPI_MCA_mpi_yield_when_idle=1\n";
    text += fmt::format(
        "srun -K1 --mpi=pmix \"${{WINDTUNNEL:-windtunnel}}\" {} {} -o {} --resume --no-progress &\n"
        "step=$!\n",
        command, shell_word(plan), shell_word(result));
    return text +
           "signalled=no; trap 'signalled=yes; kill -USR1 \"$step\"' USR1\n"
           "while :; do\n"
           "    wait \"$step\"; code=$?\n"
           "    [ \"$code\" -gt 128 ] && kill -0 \"$step\" 2>/dev/null && continue\n"
           "    break\n"
           "done\n"
           "# The first rank that ends with 75 makes -K1 end the others: the code of the step may be theirs.\n"
           "if [ \"$code\" -eq 75 ] || { [ \"$signalled\" = yes ] && [ \"$code\" -ne 0 ]; }; then\n"
           "    scontrol requeue \"$SLURM_JOB_ID\"\n"
           "fi\n"
           "exit \"$code\"\n";
}

}  // namespace windtunnel::report
