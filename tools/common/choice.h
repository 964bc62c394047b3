// Options that are one of a few words.
#pragma once

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/suggest.h"
#include "tools/common/tool.h"

namespace kasen::tools {

// The words for a help text: "hdf5, csv or npy".
template <class T, size_t n>
[[nodiscard]] std::string one_of(const std::array<std::pair<std::string_view, T>, n>& choices) {
  std::string all;
  for (size_t k = 0; k < n; ++k) all += fmt::format("{}{}", k == 0 ? "" : k + 1 == n ? " or " : ", ", choices[k].first);
  return all;
}

template <class T, size_t n>
[[nodiscard]] T choose(const po::variables_map& values, const std::string& option,
                       const std::array<std::pair<std::string_view, T>, n>& choices) {
  const auto& word = values[option].as<std::string>();
  std::string all;
  for (const auto& [name, value] : choices) {
    if (name == word) return value;
    all += fmt::format("{}{}", all.empty() ? "" : ", ", name);
  }
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) names.emplace_back(name);
  const std::string near = nearest_name(word, names);
  wrong_value(option, fmt::format("--{} does not know '{}'", option, word),
              near.empty() ? std::string() : fmt::format("did you mean '{}'?", near), "choose one of " + all);
}

template <class T>
[[nodiscard]] T bounded(const po::variables_map& values, const std::string& option, T least, T most,
                        const std::string& why = {}) {
  const T value = values[option].as<T>();
  if (value >= least && value <= most) return value;
  wrong_value(option, fmt::format("--{} {}", option, value),
              why.empty() ? fmt::format("it is {} to {}", least, most) : why);
}

}  // namespace kasen::tools
