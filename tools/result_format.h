// `--format` of kasen run and kasen go, by the one table of result formats.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "libcomm/data/result_formats.h"
#include "tools/common/choice.h"

namespace kasen::tools {

inline constexpr auto result_format_choices = [] {
  std::array<std::pair<std::string_view, ResultFormat>, result_formats.size()> choices{};
  for (size_t k = 0; k < choices.size(); ++k) choices[k] = {result_formats[k].name, result_formats[k].format};
  return choices;
}();

inline void declare_format(Tool& tool) {
  takes(tool, "format", result_format_choices);
  tool.options.add_options()(
      "format", po::value<std::string>()->default_value(std::string(result_formats.front().name))->value_name("NAME"),
      (one_of(result_format_choices) + "; without it by the output's ending").c_str());
}

// Where --format is not given, the ending of --output decides, if it is one of the table's.
[[nodiscard]] inline ResultFormat chosen_format(const po::variables_map& values) {
  const std::string output = values.count("output") > 0 ? values["output"].as<std::string>() : "";
  for (const ResultFormatRow& format : result_formats)
    if (values["format"].defaulted() && output.ends_with(format.ending)) return format.format;
  return choose(values, "format", result_format_choices);
}

}  // namespace kasen::tools
