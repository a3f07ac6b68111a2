#pragma once
/// Which program this is. The body is generated when building (cmake/build_info.cmake), in a library of its own, so
/// that a new commit relinks only what prints it: link `windtunnel_build_info`.
#include <string>

namespace windtunnel::base {

struct BuildInfo {
    std::string version;     ///< of the project, for example 0.1.0
    std::string git_state;   ///< `git describe --always --dirty`; "unknown" without a repository
    std::string compiler;    ///< name and version
    std::string build_type;  ///< Release, Debug, ...
    bool contracts = false;  ///< expects() and ensures() are checked
};

[[nodiscard]] BuildInfo build_info();

}  // namespace windtunnel::base
