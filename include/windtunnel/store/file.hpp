#pragma once
/// A file descriptor that closes itself, and system calls whose failures say path and reason.
#include <cstdint>
#include <string>
#include <string_view>

namespace windtunnel::store {

class File {
public:
    File() noexcept = default;
    explicit File(int descriptor) noexcept : descriptor_{descriptor} {}
    File(File&& other) noexcept;
    File& operator=(File&& other) noexcept;
    ~File();
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
    [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }
    void close() noexcept;

private:
    int descriptor_ = -1;
};

enum class PathKind { absent, file, folder, other };
[[nodiscard]] PathKind path_kind(const std::string& path);

/// base::RunError: what was tried, on which path, the system's reason and what to do about it.
[[noreturn]] void throw_system_error(std::string_view tried, const std::string& path, int error);

/// open(2); throws base::RunError.
[[nodiscard]] File open_file(const std::string& path, int flags, std::string_view purpose);
[[nodiscard]] std::uint64_t file_size(const File& file, const std::string& path);
/// Number of bytes read at `offset`, less than asked for only at the end of the file.
[[nodiscard]] std::size_t read_at(const File& file, const std::string& path, std::uint64_t offset, char* bytes,
                                  std::size_t size);
/// fsync of the folder that holds `path`, so that a rename or unlink in it lasts.
void sync_folder_of(const std::string& path);
[[nodiscard]] std::string folder_of(const std::string& path);
/// unlink(2); an absent file is no error.
void remove_file(const std::string& path);

}  // namespace windtunnel::store
