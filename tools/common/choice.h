// Options that are one of a few words.
#pragma once

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "tools/common/tool.h"

namespace kasen::tools {

template <class T, size_t n>
[[nodiscard]] T choose(const po::variables_map& values, const std::string& option,
                       const std::array<std::pair<std::string_view, T>, n>& choices) {
  const auto& word = values[option].as<std::string>();
  std::string all;
  for (const auto& [name, value] : choices) {
    if (name == word) return value;
    all += fmt::format("{}{}", all.empty() ? "" : ", ", name);
  }
  wrong_value(option, fmt::format("--{} does not know '{}'", option, word), "", "choose one of " + all);
}

}  // namespace kasen::tools
