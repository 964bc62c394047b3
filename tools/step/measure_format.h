// The formats of kasen measure's reports.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "libcore/base/error.h"
#include "tools/common/choice.h"
#include "tools/common/tool.h"
#include "tools/options/result_format.h"

namespace kasen::tools {

enum class Format : std::uint8_t { text, json, html, dot, csv, svg };
inline constexpr std::array<std::pair<std::string_view, Format>, 6> formats{{{"text", Format::text},
                                                                             {"json", Format::json},
                                                                             {"html", Format::html},
                                                                             {"dot", Format::dot},
                                                                             {"csv", Format::csv},
                                                                             {"svg", Format::svg}}};

[[noreturn]] inline void refuse_format(const std::string& option) {
  fail(ExitStatus::usage, fmt::format("{} does not print in this format", option), "",
       "leave out --format, or use --format json where there is one");
}

// Without --format, the ending of the output's name decides; a name without one of these is a text's.
[[nodiscard]] inline Format format_of(const po::variables_map& values) {
  if (!values["format"].defaulted()) return choose(values, "format", formats);
  const std::string ending = ending_of(values["output"].as<std::string>());
  if (ending == ".png" || ending == ".pdf")
    wrong_value("output", fmt::format("there are no pictures of the kind '{}'", ending), "",
                "write .svg, which browsers and editors take, or .html");
  for (const auto& [word, format] : formats)
    if (ending == "." + std::string(word) && format != Format::text) return format;
  return Format::text;
}

}  // namespace kasen::tools
