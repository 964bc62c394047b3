// The nesting depth of a JSON text. The parser recurses for each level, so a text of a million brackets would exhaust
// the stack.
#pragma once

#include <string_view>

namespace kasen {

inline constexpr int deepest_json = 100;  // our own files have less than a tenth of it

[[nodiscard]] inline bool nests_deeper(std::string_view json, int most) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t k = 0; k < json.size() && depth <= most; ++k) {
    const char c = json[k];
    if (quoted && c == '\\')
      ++k;
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && (c == '[' || c == '{'))
      ++depth;
    else if (!quoted && (c == ']' || c == '}'))
      --depth;
  }
  return depth > most;
}

}  // namespace kasen
