#include "windtunnel/app/build_info.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "windtunnel/base/build_info.hpp"
#include "windtunnel/parallel/communicator.hpp"
#include "windtunnel/store/provenance.hpp"

namespace windtunnel::app {

std::string version_text() {
    const base::BuildInfo build = base::build_info();
    return fmt::format("windtunnel {}\ngit {}\ncompiler {}\nbuild {}{}\n", build.version, build.git_state,
                       build.compiler, build.build_type, build.contracts ? ", contracts checked" : "") +
           fmt::format("MPI {}\nHDF5 {}\n", parallel::mpi_version(), store::hdf5_version());
}

std::string shipped_inputs() {
    namespace fs = std::filesystem;
    if (const char* named = std::getenv("WINDTUNNEL_INPUTS"); named != nullptr && *named != '\0') return named;
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    if (error) return "";
    const fs::path folder = program.parent_path();
    for (const char* place : {"../share/windtunnel/inputs", "../../../inputs"}) {  // installed; build/PRESET/bin
        const fs::path candidate = (folder / place).lexically_normal();
        if (fs::is_directory(candidate, error)) return candidate.string();
    }
    return "";
}

}  // namespace windtunnel::app
