// How far a text goes on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace kasen {

// Blanks that end where the text ends on a terminal: two for a wide character (Chinese, emoji), none for an accent that
// joins the letter before it. A tab stays a tab. The text is printable (printable.h).
[[nodiscard]] std::string blanks_below(std::string_view text);

}  // namespace kasen
