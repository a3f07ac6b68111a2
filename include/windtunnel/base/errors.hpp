#pragma once
/// The two kinds of error that a user can meet. (A broken contract is the third kind and is a bug; an infeasible
/// design is a value, model::Verdict, and no error.)
#include <stdexcept>
#include <string>
#include <vector>

namespace windtunnel::base {

/// One thing that is wrong with a user's file or command line.
struct Finding {
    std::string file;      ///< path as the user gave it; empty: the command line
    int line = 0;          ///< from 1; 0: the whole file
    int column = 0;        ///< from 1; 0: the whole line
    std::string field;     ///< for example network[1].bandwidth
    std::string message;   ///< what is wrong, with the value
    std::string expected;  ///< what would be right, with an example or the nearest valid choices; may be empty

    /// `file:line:column: error: field: message (expected ...)`
    [[nodiscard]] std::string text() const;
};

/// The user's files or options are wrong: exit code 2. Carries every finding of every file.
class InputError : public std::runtime_error {
public:
    explicit InputError(std::vector<Finding> findings);
    [[nodiscard]] const std::vector<Finding>& findings() const noexcept { return findings_; }

private:
    std::vector<Finding> findings_;
};

/// Something failed while running (a file, MPI, HDF5): what was tried, on which path, what to do next. Exit code 1.
class RunError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace windtunnel::base
