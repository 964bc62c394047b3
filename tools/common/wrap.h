// Text for a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kasen::tools {

// The letters in a line of the terminal that standard output is; 0 where it is none, and lines may have any length.
[[nodiscard]] size_t terminal_width();
// Lines that are longer are cut, with "..." at their ends. 0: none is.
[[nodiscard]] std::string fitted(std::string_view text, size_t width);

// The width of lines on standard output: COLUMNS, or the terminal's, or 80; from 40 to 120.
[[nodiscard]] size_t text_width();
// Wraps words into lines of at most `width` characters; all lines but the first begin after `indent` blanks. `first`:
// the column, already written to, where the first line begins. Text in brackets stays together where it fits.
[[nodiscard]] std::string wrapped(std::string_view text, size_t width, size_t indent, size_t first);

}  // namespace kasen::tools
