// "Did you mean": the nearest of the known names.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace kasen {

// The name with the smallest edit distance to `wanted` (a letter of the other case is half an edit), the first in order
// among equals: one edit away, two of a long name; else the only one that begins with `wanted`. Empty when none is
// near: a suggestion that is wrong costs more than none.
[[nodiscard]] std::string nearest_name(std::string_view wanted, std::span<const std::string> names);

}  // namespace kasen
