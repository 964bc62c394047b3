// Text for a page. The contents of a program or a file's name are never markup. Internal to libopt.
#pragma once

#include <string>
#include <string_view>

namespace kasen {

// For text and for attributes in double or single quotes. Control characters become blanks, and bytes that are not
// UTF-8 become the replacement character, so that the page is valid for any quoted text.
[[nodiscard]] std::string page_text(std::string_view text);

// Counts code points. Each is as wide as another in the pictures' font.
[[nodiscard]] size_t text_width(std::string_view text);
// Returns at most `most` code points. The last is an ellipsis if something is left out.
[[nodiscard]] std::string clipped(std::string_view text, size_t most);

}  // namespace kasen
