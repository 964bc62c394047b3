// Texts of files and names that a terminal is to show.
#pragma once

#include <string>
#include <string_view>

namespace kasen {

// The text with '?' for each byte of what would act on whoever shows it: control characters (those of 8 bits, too,
// which UTF-8 writes as c2 80 to c2 9f), bytes that are no UTF-8, and marks of Unicode that turn the direction of
// writing or break a line. Line ends and tabs stay, and so does each place in it.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace kasen
