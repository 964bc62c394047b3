// "Did you mean": the nearest of the known names.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace kasen {

// How many slips a name may have to be taken for another. `few`: one, two of a long name; for names that stand near
// each other and mean different things, as functions do. `many`: a third of its letters; for names of the user's own,
// options and words.
enum class Slips { few, many };

// The name with the smallest edit distance to `wanted` (a letter of the other case is half an edit), the first in order
// among equals; else the only one that begins with `wanted`. Empty when none is near: a suggestion that is wrong costs
// more than none.
[[nodiscard]] std::string nearest_name(std::string_view wanted, std::span<const std::string> names,
                                       Slips slips = Slips::many);

}  // namespace kasen
