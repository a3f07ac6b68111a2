#pragma once
/// Two jobs cannot write one output: `FILE.lock` holds host, process and start of the job that does.
#include <string>

#include "windtunnel/store/file.hpp"

namespace windtunnel::store {

/// Made with O_EXCL and held with flock(2); removed when the value goes. The lock of a dead process of this host, or
/// of an earlier start of the same Slurm job, is stale: it is taken over and stale_owner() names it. Any other lock
/// is an error that names its owner.
class Lock {
public:
    /// Throws base::RunError when another job holds the lock or the folder cannot be written.
    explicit Lock(std::string path);
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    ~Lock();

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    /// "process 12 of host a, started ..." when a stale lock was taken over; else empty.
    [[nodiscard]] const std::string& stale_owner() const noexcept { return stale_owner_; }

private:
    std::string path_;
    File file_;
    std::string stale_owner_;
};

}  // namespace windtunnel::store
