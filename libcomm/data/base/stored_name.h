// Names of groups and datasets become parts of paths: they hold no slash, space or control character.
#pragma once

#include <algorithm>
#include <string_view>

namespace kasen {

[[nodiscard]] inline bool is_stored_name(std::string_view name) {
  return !name.empty() && name.size() < 256 && name != "." && name != ".." &&
         std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 127 && c != '/'; });
}

}  // namespace kasen
