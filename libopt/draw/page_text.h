// Text for a page or a picture. The contents of a program or a file name are never markup.
#pragma once

#include <string>
#include <string_view>

namespace kasen {

// For text and for attributes in double or single quotes. Control characters become blanks; what is not UTF-8 or not
// for XML becomes the replacement character. So a page or picture is valid whatever it quotes.
[[nodiscard]] std::string page_text(std::string_view text);

// Code points, each as wide as another in the pictures' font.
[[nodiscard]] size_t text_width(std::string_view text);
// At most so many code points, the last an ellipsis where something is left out.
[[nodiscard]] std::string clipped(std::string_view text, size_t most);

}  // namespace kasen
