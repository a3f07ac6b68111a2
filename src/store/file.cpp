#include "windtunnel/store/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "windtunnel/base/errors.hpp"

namespace windtunnel::store {
namespace {

std::string_view hint(int error) {
    switch (error) {
        case ENOSPC:
        case EDQUOT:
            return "free some space, then continue with --resume";
        case EFBIG:
            return "the file size limit is too small (ulimit -f); raise it, then continue with --resume";
        case EACCES:
        case EPERM:
            return "choose a folder that you may write to";
        case EROFS:
            return "the file system is read-only; choose another folder";
        case EISDIR:
            return "that is a folder; give a file name";
        case ENOTDIR:
            return "a part of the path is a file, not a folder";
        case ENOENT:
            return "the folder or file does not exist; create it first";
        case EIO:
            return "the storage reports a fault; choose another file system";
        default:
            return "check the path and the file system";
    }
}

}  // namespace

File::File(File&& other) noexcept : descriptor_{std::exchange(other.descriptor_, -1)} {}
File& File::operator=(File&& other) noexcept {
    if (this != &other) {
        close();
        descriptor_ = std::exchange(other.descriptor_, -1);
    }
    return *this;
}
File::~File() {
    close();
}
void File::close() noexcept {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

PathKind path_kind(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        if (errno == ENOENT) return PathKind::absent;
        throw_system_error("looking at", path, errno);
    }
    if (S_ISREG(status.st_mode)) return PathKind::file;
    return S_ISDIR(status.st_mode) ? PathKind::folder : PathKind::other;
}

void throw_system_error(std::string_view tried, const std::string& path, int error) {
    throw base::RunError{fmt::format("{} {}: {}; {}", tried, path, std::strerror(error), hint(error))};
}

File open_file(const std::string& path, int flags, std::string_view purpose) {
    const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
    if (descriptor < 0) throw_system_error(purpose, path, errno);
    return File{descriptor};
}

std::uint64_t file_size(const File& file, const std::string& path) {
    struct stat status {};
    if (::fstat(file.descriptor(), &status) != 0) throw_system_error("looking at", path, errno);
    if (!S_ISREG(status.st_mode)) throw base::RunError{fmt::format("{} is no ordinary file; give a file name", path)};
    return static_cast<std::uint64_t>(status.st_size);
}

std::size_t read_at(const File& file, const std::string& path, std::uint64_t offset, char* bytes, std::size_t size) {
    std::size_t done = 0;
    while (done < size) {
        const ssize_t got = ::pread(file.descriptor(), bytes + done, size - done, static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw_system_error("reading", path, errno);
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
    }
    return done;
}

std::string folder_of(const std::string& path) {
    const auto slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

void sync_folder_of(const std::string& path) {
    const std::string folder = folder_of(path);
    const File file = open_file(folder, O_RDONLY | O_DIRECTORY, "opening the folder");
    // Some network file systems refuse fsync on a folder (EINVAL): they order renames themselves.
    if (::fsync(file.descriptor()) != 0 && errno != EINVAL) throw_system_error("syncing the folder", folder, errno);
}

void remove_file(const std::string& path) {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) throw_system_error("removing", path, errno);
}

}  // namespace windtunnel::store
