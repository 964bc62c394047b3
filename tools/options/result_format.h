// `--format` of kasen run and kasen go, by the one table of result formats.
#pragma once

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "libcomm/data/results/formats.h"
#include "tools/common/choice.h"

namespace kasen::tools {

inline constexpr auto result_format_choices = [] {
  std::array<std::pair<std::string_view, ResultFormat>, result_formats.size()> choices{};
  for (size_t k = 0; k < choices.size(); ++k) choices[k] = {result_formats[k].name, result_formats[k].format};
  return choices;
}();

// The word that asks for the report in JSON; the format of the result then follows from its file's ending.
inline constexpr const char* report_word = "json";

inline void declare_format(Tool& tool) {
  takes(tool, "format", result_format_choices);
  tool.words["format"].emplace_back(report_word);
  tool.options.add_options()(
      "format", po::value<std::string>()->default_value(std::string(result_formats.front().name))->value_name("NAME"),
      (one_of(result_format_choices) + ", else by the output's ending; json: the report in JSON").c_str());
}

[[nodiscard]] inline bool asks_for_json(const po::variables_map& values) {
  return values["format"].as<std::string>() == report_word;
}

// The part of a file's name from its last dot on, in small letters, where a letter follows: ".csv", but none of
// "ranks-0.85". Empty if the name has none.
[[nodiscard]] inline std::string ending_of(const std::string& file) {
  std::string ending = std::filesystem::path(file).extension().string();
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (ending.size() < 2 || !is_letter(ending[1])) return {};
  for (char& c : ending) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return ending;
}

// Where --format names no format, the ending of --output decides; an ending of no format is refused.
[[nodiscard]] inline ResultFormat chosen_format(const po::variables_map& values) {
  const std::string output = values.count("output") > 0 ? values["output"].as<std::string>() : "";
  const std::string ending = ending_of(output);
  const bool named = !values["format"].defaulted() && !asks_for_json(values);
  if (named) return choose(values, "format", result_format_choices);
  if (ending.empty()) return result_formats.front().format;
  std::string known;
  for (const ResultFormatRow& format : result_formats) {
    if (ending == format.ending || ending == format.other) return format.format;
    known += fmt::format("{}{}{}", known.empty() ? "" : ", ", format.ending,
                         format.other.empty() ? std::string() : fmt::format(", {}", format.other));
  }
  wrong_value("output", fmt::format("'{}' ends in '{}', which is no format of results", output, ending),
              fmt::format("the ending states the format: {}", known), "choose one of these, or add --format NAME");
}

}  // namespace kasen::tools
