// Options that are one of a few words.
#pragma once

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "libcore/error.h"

namespace kasen::tools {

template <class T, size_t n>
[[nodiscard]] T choose(const std::string& word, std::string_view option,
                       const std::array<std::pair<std::string_view, T>, n>& choices) {
  std::string all;
  for (const auto& [name, value] : choices) {
    if (name == word) return value;
    all += fmt::format("{}{}", all.empty() ? "" : ", ", name);
  }
  fail(ExitStatus::usage, fmt::format("{} does not know '{}'", option, word), "", "choose one of " + all);
}

}  // namespace kasen::tools
