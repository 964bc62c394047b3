// Text from files and names, made safe for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace kasen {

// The text with '?' for each byte that could control the terminal. These are control characters (also those of 8 bits,
// which UTF-8 writes as c2 80 to c2 9f) and bytes that are not UTF-8. They are also the Unicode marks that change the
// direction of writing or break a line. Line ends and tabs stay, and all positions in the text stay the same.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace kasen
