// The colours of pages and pictures, in light and in dark surroundings.
#pragma once

#include <string>
#include <string_view>

namespace kasen {

// For a page: each colour as a variable of CSS, which a style names as var(--ink).
[[nodiscard]] std::string theme_variables();
// For a file: these rules in light colours, and again in dark ones where the reader's system is dark. Each var(--ink)
// is replaced by its colour, since not all programs that show SVG know variables.
[[nodiscard]] std::string in_both_themes(std::string_view rules);

}  // namespace kasen
