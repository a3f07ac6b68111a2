#include "windtunnel/base/errors.hpp"

#include <fmt/format.h>

#include <utility>

namespace windtunnel::base {
namespace {

std::string all_texts(const std::vector<Finding>& findings) {
    std::string text;
    for (const Finding& finding : findings) {
        if (!text.empty()) text += '\n';
        text += finding.text();
    }
    return text;
}

}  // namespace

std::string Finding::text() const {
    std::string place = file.empty() ? std::string{"command line"} : file;
    if (line > 0) place += fmt::format(":{}", line);
    if (line > 0 && column > 0) place += fmt::format(":{}", column);
    const std::string subject = field.empty() ? std::string{} : field + ": ";
    const std::string hint = expected.empty() ? std::string{} : " (expected " + expected + ")";
    return fmt::format("{}: error: {}{}{}", place, subject, message, hint);
}

InputError::InputError(std::vector<Finding> findings)
    : std::runtime_error{all_texts(findings)}, findings_{std::move(findings)} {}

}  // namespace windtunnel::base
