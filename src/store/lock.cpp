#include "windtunnel/store/lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <vector>

#include "windtunnel/base/errors.hpp"
#include "windtunnel/store/provenance.hpp"

namespace windtunnel::store {
namespace {

using Owner = std::map<std::string, std::string>;

/// Fields 3 (state) and on of /proc/PID/stat; empty when there is no such process.
std::vector<std::string> process_status(const std::string& process) {
    std::ifstream stat{"/proc/" + process + "/stat"};
    const std::string text{std::istreambuf_iterator<char>{stat}, {}};
    const auto bracket = text.rfind(')');
    if (bracket == std::string::npos) return {};
    std::istringstream fields{text.substr(bracket + 1)};
    return {std::istream_iterator<std::string>{fields}, {}};
}

/// Field 22: start of the process in ticks since boot; tells a process number that is used again apart.
std::string process_start_ticks(const std::string& process) {
    const auto status = process_status(process);
    return status.size() > 19 ? status[19] : std::string{};
}

/// Dead, but its parent has not asked for its exit code yet: a killed rank stays so for a while.
bool is_zombie(const std::string& process) {
    const auto status = process_status(process);
    return !status.empty() && (status[0] == "Z" || status[0] == "X");
}

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string{} : std::string{value};
}

Owner this_process() {
    const std::string process = std::to_string(::getpid());
    return {{"host", host_name()},
            {"pid", process},
            {"start", utc_now()},
            {"ticks", process_start_ticks(process)},
            {"slurm_job", environment("SLURM_JOB_ID")},
            {"slurm_restart", environment("SLURM_RESTART_COUNT")}};
}

Owner parse(std::string_view text) {
    Owner owner;
    std::istringstream lines{std::string{text}};
    for (std::string line; std::getline(lines, line);)
        if (const auto equals = line.find('='); equals != std::string::npos)
            owner[line.substr(0, equals)] = line.substr(equals + 1);
    return owner;
}

long number(const std::string& text) {
    long value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

bool stale(Owner owner, Owner mine) {
    if (!mine["slurm_job"].empty() && owner["slurm_job"] == mine["slurm_job"] &&
        number(mine["slurm_restart"]) > number(owner["slurm_restart"]))
        return true;
    const long process = number(owner["pid"]);
    if (owner["host"] != mine["host"] || process <= 0) return false;
    if (::kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH) return true;
    if (is_zombie(owner["pid"])) return true;
    const std::string ticks = process_start_ticks(owner["pid"]);
    return !ticks.empty() && !owner["ticks"].empty() && ticks != owner["ticks"];
}

std::string describe(Owner owner) {
    if (owner["pid"].empty()) return "an unknown process (the lock file is empty or damaged)";
    return fmt::format("process {} on host {}, started {}", owner["pid"], owner["host"], owner["start"]);
}

void write_owner(const File& file, const std::string& path, const Owner& owner) {
    std::string text;
    for (const auto& [key, value] : owner) text += key + "=" + value + "\n";
    if (::ftruncate(file.descriptor(), 0) != 0) throw_system_error("writing the lock", path, errno);
    const ssize_t written = ::pwrite(file.descriptor(), text.data(), text.size(), 0);
    if (written != static_cast<ssize_t>(text.size()))
        throw_system_error("writing the lock", path, written < 0 ? errno : ENOSPC);
}

[[noreturn]] void throw_locked(const std::string& path, const std::string& owner) {
    throw base::RunError{
        fmt::format("the output is being written by {}; wait for it, or if that job is gone, delete {}", owner, path)};
}

}  // namespace

Lock::Lock(std::string path) : path_{std::move(path)} {
    const Owner mine = this_process();
    if (const int descriptor = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666); descriptor >= 0) {
        file_ = File{descriptor};
        ::flock(descriptor, LOCK_EX | LOCK_NB);  // where the file system has no flock, host and process must do
        try {
            write_owner(file_, path_, mine);
        } catch (...) {
            ::unlink(path_.c_str());
            throw;
        }
        return;
    }
    if (errno != EEXIST) throw_system_error("creating the lock", path_, errno);

    File file = open_file(path_, O_RDWR, "opening the lock");
    std::string text(4096, '\0');
    text.resize(read_at(file, path_, 0, text.data(), text.size()));
    const Owner owner = parse(text);
    struct stat held {};
    struct stat named {};
    const bool mine_now = ::flock(file.descriptor(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    const bool same_file = ::fstat(file.descriptor(), &held) == 0 && ::stat(path_.c_str(), &named) == 0 &&
                           held.st_ino == named.st_ino && held.st_dev == named.st_dev;
    if (!mine_now || !same_file || !stale(owner, mine)) throw_locked(path_, describe(owner));
    // Read again under the flock: somebody may have taken the stale lock over and ended meanwhile.
    std::string again(4096, '\0');
    again.resize(read_at(file, path_, 0, again.data(), again.size()));
    if (again != text) throw_locked(path_, describe(parse(again)));
    write_owner(file, path_, mine);
    file_ = std::move(file);
    stale_owner_ = describe(owner);
}

Lock::~Lock() {
    if (file_.is_open()) ::unlink(path_.c_str());
}

}  // namespace windtunnel::store
