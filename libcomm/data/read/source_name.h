// The file of an input by the text that names it and its content.
#pragma once

#include <cstddef>
#include <string>

namespace kasen {

// "x.csv 0123...ef" is of the file x.csv. A file whose content has no digest stands alone.
[[nodiscard]] inline std::string file_of_source(const std::string& source) {
  constexpr std::size_t digest = 32;  // hex digits
  const std::size_t blank = source.rfind(' ');
  const bool has_digest = blank != std::string::npos && source.size() - blank - 1 == digest &&
                          source.find_first_not_of("0123456789abcdef", blank + 1) == std::string::npos;
  return has_digest ? source.substr(0, blank) : source;
}

}  // namespace kasen
