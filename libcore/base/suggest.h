// "Did you mean": the nearest of the known names.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace kasen {

// How many typing errors a name may have and still be taken for another one. `few` is one, two in a long name, and none
// in one of fewer than four letters. It is for names that are near each other and mean different things, as functions
// do. `many` is a third of its letters; it is for the user's own names, options and words.
enum class Slips { few, many };

// The name with the smallest edit distance to `wanted` (a letter of the other case is half an edit). Among equal
// distances the first one counts. If no name is near, it is the only name that begins with `wanted`. Empty if there is
// none: a wrong suggestion costs more than none.
[[nodiscard]] std::string nearest_name(std::string_view wanted, std::span<const std::string> names,
                                       Slips slips = Slips::many);

}  // namespace kasen
