// Options that take one of a few words.
#pragma once

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
[[nodiscard]] std::vector<std::string> words_of(const std::array<std::pair<std::string_view, T>, n>& choices) {
  std::vector<std::string> words;
  for (const auto& [word, value] : choices) words.emplace_back(word);
  return words;
}

// The option of the tool takes one of these words.
template <class T, size_t n>
void takes(Tool& tool, const std::string& option, const std::array<std::pair<std::string_view, T>, n>& choices) {
  tool.words[option] = words_of(choices);
}

template <class T, size_t n>
[[nodiscard]] T choose(const po::variables_map& values, const std::string& option,
                       const std::array<std::pair<std::string_view, T>, n>& choices) {
  const auto& word = values[option].as<std::string>();
  for (const auto& [name, value] : choices) {
    if (name == word) return value;
  }
  unknown_word(option, word, words_of(choices));
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
