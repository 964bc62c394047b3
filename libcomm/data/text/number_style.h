// How a table in text writes its numbers, where that is not as programs do: 1.234,5.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kasen {

struct NumberStyle {
  char point = '.';   // before the fraction
  char group = '\0';  // between groups of three digits; '\0': there is nothing

  [[nodiscard]] bool plain() const { return point == '.' && group == '\0'; }
  [[nodiscard]] bool uses(char c) const { return c == point || c == group; }
  // The number as programs write it. Nothing where its groups are not of three digits, or it has another point; text
  // that is no number at all may come back as it is.
  [[nodiscard]] std::optional<std::string> plain_text(std::string_view cell) const;
};

}  // namespace kasen
