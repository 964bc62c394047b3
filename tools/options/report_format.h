// --format of tools that report: text for people, or JSON by the schemas in docs/schemas.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "tools/common/choice.h"

namespace kasen::tools {

enum class ReportFormat : std::uint8_t { text, json };
inline constexpr std::array<std::pair<std::string_view, ReportFormat>, 2> report_formats{
    {{"text", ReportFormat::text}, {"json", ReportFormat::json}}};

inline void declare_report_format(Tool& tool, const char* text = "of the report: text or json") {
  takes(tool, "format", report_formats);
  tool.options.add_options()("format", po::value<std::string>()->default_value("text")->value_name("FORMAT"), text);
}

[[nodiscard]] inline bool reports_json(const po::variables_map& values) {
  return choose(values, "format", report_formats) == ReportFormat::json;
}

}  // namespace kasen::tools
