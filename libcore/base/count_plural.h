// A number of things in words, of nouns whose plural has other endings: "1 index", "2 indices".
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>

namespace kasen {

template <std::integral Number>
[[nodiscard]] std::string count_plural(Number number, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", number, number == 1 ? one : several);
}

}  // namespace kasen
