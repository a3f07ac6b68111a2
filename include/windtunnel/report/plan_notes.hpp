#pragma once
/// What nobody wrote and what nobody knows: the values behind an answer that a reader should see.
#include <string>
#include <string_view>
#include <vector>

#include "windtunnel/model/plan.hpp"

namespace windtunnel::report {

/// Paragraphs "defaults: ..." and "assumed: ...", wrapped. Values of one file with one reason stand together; equal
/// values of a list are written once, with their places. Sections in `unused` ("search") are left out.
[[nodiscard]] std::string plan_notes(const model::Plan& plan, const std::vector<std::string_view>& unused = {});

/// "component[0].repair = x (assumed: y)", "component[2].repair = x (assumed: y)" -> "component[0,2].repair = x
/// (assumed: y)". Lines of another form stay as they are.
[[nodiscard]] std::vector<std::string> joined_assumptions(const std::vector<std::string>& lines);

/// Breaks at spaces so that no line is longer than `width` where a space allows it; further lines start with two.
[[nodiscard]] std::string wrapped(const std::string& text, std::size_t width);

}  // namespace windtunnel::report
