// A number of things in words: "1 worker", "2 workers".
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>

namespace kasen {

// For nouns whose plural ends in s.
template <std::integral Number>
[[nodiscard]] std::string count_text(Number number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

// For others: "1 index", "2 indices".
template <std::integral Number>
[[nodiscard]] std::string count_plural(Number number, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", number, number == 1 ? one : several);
}

}  // namespace kasen
