#include "windtunnel/app/write_file.hpp"

#include <fmt/format.h>

#include <fstream>

#include "windtunnel/base/errors.hpp"

namespace windtunnel::app {

void write_file(const std::string& path, const std::string& text) {
    std::ofstream file{path, std::ios::binary | std::ios::trunc};
    file << text;
    file.close();
    if (!file)
        throw base::RunError{fmt::format("cannot write {}: check the folder, its rights and the free space", path)};
}

}  // namespace windtunnel::app
