#pragma once
/// What this program was built from.
#include <string>

namespace windtunnel::app {

/// Version, git state, compiler, MPI and HDF5, one a line: --version and /provenance.
[[nodiscard]] std::string version_text();

/// Folder of the inputs that are shipped: beside the program, in its build tree or where it was installed; empty: none.
[[nodiscard]] std::string shipped_inputs();

}  // namespace windtunnel::app
