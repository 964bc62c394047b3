// "Did you mean": the nearest of the known names.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace kasen {

// The name with the smallest edit distance to `wanted` (a letter of the other case is half an edit), the first in order
// among equals; empty when none is near (at most a third of the length, rounded up, and one edit always is).
[[nodiscard]] std::string nearest_name(std::string_view wanted, std::span<const std::string> names);

}  // namespace kasen
