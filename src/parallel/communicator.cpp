#include "windtunnel/parallel/communicator.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "windtunnel/base/errors.hpp"
#include "windtunnel/parallel/affinity.hpp"

namespace windtunnel::parallel {
namespace {

/// MPI counts are ints: longer messages travel in pieces of this many bytes.
constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 30U;

const char* environment(const char* name) {
    return std::getenv(name);
}

int number(const char* text) {
    int value = 0;
    if (text != nullptr) std::from_chars(text, text + std::strlen(text), value);
    return value;
}

void check(int code, const char* call) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw base::RunError{
        fmt::format("{} failed: {}; look at the launcher's messages and at the network of the nodes", call, text)};
}

/// Of the ranks on this host, those with the same affinity mask as this one.
int count_ranks_on_same_cores(int rank) {
    MPI_Comm host = MPI_COMM_NULL;
    check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host), "MPI_Comm_split_type");
    int size = 1;
    check(MPI_Comm_size(host, &size), "MPI_Comm_size");
    const std::uint64_t mine = std::hash<std::string>{}(core_list(cores_of_process()));
    std::vector<std::uint64_t> masks(static_cast<std::size_t>(size));
    check(MPI_Allgather(&mine, 1, MPI_UINT64_T, masks.data(), 1, MPI_UINT64_T, host), "MPI_Allgather");
    check(MPI_Comm_free(&host), "MPI_Comm_free");
    return static_cast<int>(std::count(masks.begin(), masks.end(), mine));
}

[[noreturn]] void throw_singletons(int processes) {
    throw base::RunError{fmt::format(
        "{} processes were started, but they do not know each other: each would do the whole work and write the same "
        "file. Use a launcher that this MPI library ({}) speaks: mpirun, or srun --mpi=pmix (see srun --mpi=list)",
        processes > 1 ? std::to_string(processes) : std::string{"Several"}, mpi_version())};
}

}  // namespace

Launch launch_kind(const char* (*variable)(const char* name)) {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK"})
        if (variable(name) != nullptr) return Launch::mpi;
    if (variable("SLURM_PROCID") == nullptr) return Launch::alone;
    if (number(variable("SLURM_STEP_NUM_TASKS")) > 1) return Launch::singletons;
    if (variable("SLURM_STEP_NUM_TASKS") != nullptr) return Launch::alone;  // a step of one task
    if (number(variable("SLURM_NTASKS")) <= 1) return Launch::alone;
    // A batch script has SLURM_PROCID 0 and no step; anything else was started by srun.
    const bool in_step = number(variable("SLURM_PROCID")) > 0 || variable("SLURM_STEP_ID") != nullptr ||
                         variable("SLURM_STEPID") != nullptr;
    return in_step ? Launch::singletons : Launch::doubtful;
}

int launched_processes(const char* (*variable)(const char* name)) {
    for (const char* name :
         {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"})
        if (const int processes = number(variable(name)); processes > 0) return processes;
    return 0;
}

/// MPI between MPI_Init and MPI_Finalize.
struct Communicator::Mpi {
    Mpi() {
        int provided = 0;
        check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
        if (provided < MPI_THREAD_FUNNELED) {
            MPI_Finalize();
            throw base::RunError{"this MPI library allows no threads beside its own; build with one that does"};
        }
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    }
    Mpi(const Mpi&) = delete;
    Mpi& operator=(const Mpi&) = delete;
    ~Mpi() { MPI_Finalize(); }
};

Communicator::Communicator() = default;
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;
Communicator::~Communicator() = default;

Communicator Communicator::start() {
    Communicator communicator;
    const int processes = launched_processes(environment);
    switch (launch_kind(environment)) {
        case Launch::alone:
            return communicator;
        case Launch::singletons:
            throw_singletons(processes);
        case Launch::doubtful:
            std::fprintf(stderr,
                         "windtunnel: warning: the job has %d tasks, but this is one process. For all of them use srun "
                         "--mpi=pmix or mpirun.\n",
                         processes);
            return communicator;
        case Launch::mpi:
            break;
    }
    communicator.mpi_ = std::make_unique<Mpi>();
    check(MPI_Comm_rank(MPI_COMM_WORLD, &communicator.rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(MPI_COMM_WORLD, &communicator.size_), "MPI_Comm_size");
    if (communicator.size_ == 1) {
        // The launcher knows of more, the library does not: mpirun of another MPI, or srun with another PMI.
        const bool by_mpirun = environment("OMPI_COMM_WORLD_SIZE") != nullptr || environment("PMI_SIZE") != nullptr;
        if (processes > 1 && (by_mpirun || environment("SLURM_STEP_NUM_TASKS") != nullptr)) throw_singletons(processes);
        return communicator;
    }
    communicator.ranks_on_same_cores_ = count_ranks_on_same_cores(communicator.rank_);
    return communicator;
}

void Communicator::send(int destination, int tag, std::string_view bytes) {
    const std::uint64_t length = bytes.size();
    // The length travels in front, in the same first piece.
    const std::uint64_t first = std::min<std::uint64_t>(length, piece_bytes);
    std::string head(sizeof length + first, '\0');
    std::memcpy(head.data(), &length, sizeof length);
    if (first > 0) std::memcpy(head.data() + sizeof length, bytes.data(), first);
    check(MPI_Send(head.data(), static_cast<int>(head.size()), MPI_BYTE, destination, tag, MPI_COMM_WORLD), "MPI_Send");
    for (std::uint64_t done = first; done < length; done += piece_bytes) {
        const std::uint64_t piece = std::min(piece_bytes, length - done);
        check(MPI_Send(bytes.data() + done, static_cast<int>(piece), MPI_BYTE, destination, tag, MPI_COMM_WORLD),
              "MPI_Send");
    }
}

std::optional<Message> Communicator::try_receive(int source) {
    if (size_ == 1) return std::nullopt;
    int there = 0;
    MPI_Status status;
    check(MPI_Iprobe(source == any_source ? MPI_ANY_SOURCE : source, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status),
          "MPI_Iprobe");
    if (there == 0) return std::nullopt;
    int count = 0;
    check(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
    Message message{status.MPI_SOURCE, status.MPI_TAG, std::string(static_cast<std::size_t>(count), '\0')};
    check(
        MPI_Recv(message.bytes.data(), count, MPI_BYTE, message.source, message.tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
        "MPI_Recv");
    std::uint64_t length = 0;
    if (message.bytes.size() < sizeof length) throw base::RunError{"a message between ranks is too short"};
    std::memcpy(&length, message.bytes.data(), sizeof length);
    message.bytes.erase(0, sizeof length);
    while (message.bytes.size() < length) {
        const std::uint64_t done = message.bytes.size();
        const std::uint64_t piece = std::min(piece_bytes, length - done);
        message.bytes.resize(done + piece);
        check(MPI_Recv(message.bytes.data() + done, static_cast<int>(piece), MPI_BYTE, message.source, message.tag,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE),
              "MPI_Recv");
    }
    return message;
}

Message Communicator::receive() {
    while (true) {
        if (auto message = try_receive()) return *std::move(message);
        std::this_thread::sleep_for(poll_pause);
    }
}

void Communicator::abort(int exit_code) {
    if (mpi_) MPI_Abort(MPI_COMM_WORLD, exit_code);
    std::_Exit(exit_code);
}

std::string mpi_version() {
#if defined(OMPI_MAJOR_VERSION)
    return fmt::format("Open MPI {}.{}.{}", OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION);
#elif defined(MPICH_VERSION)
    return std::string{"MPICH "} + MPICH_VERSION;
#else
    return fmt::format("MPI {}.{}", MPI_VERSION, MPI_SUBVERSION);
#endif
}

}  // namespace windtunnel::parallel
