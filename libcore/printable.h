// Texts of files and names that a terminal is to show.
#pragma once

#include <string>
#include <string_view>

namespace kasen {

// The text with '?' for control characters, which would act on the terminal; those of 8 bits, too, which UTF-8 writes
// as c2 80 to c2 9f. Line ends and tabs stay.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace kasen
