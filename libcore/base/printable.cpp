#include "libcore/base/printable.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "libcore/base/utf8.h"

namespace kasen {
namespace {

bool acts_on_display(std::uint32_t code) {
  constexpr std::array<std::pair<std::uint32_t, std::uint32_t>, 8> ranges{{
      {0x00, 0x08},      // control characters before the tab,
      {0x0B, 0x1F},      // and after the line end
      {0x7F, 0x9F},      // of 8 bits
      {0x61C, 0x61C},    // Arabic letter mark
      {0x200E, 0x200F},  // left-to-right and right-to-left marks
      {0x2028, 0x2029},  // line and paragraph separators
      {0x202A, 0x202E},  // embeddings and overrides of direction
      {0x2066, 0x2069},  // isolates
  }};
  return std::any_of(ranges.begin(), ranges.end(),
                     [code](const auto& range) { return code >= range.first && code <= range.second; });
}

bool is_plain(char c) { return (c >= ' ' && c < 0x7F) || c == '\n' || c == '\t'; }

}  // namespace

std::string printable(std::string_view text) {
  std::string shown(text);
  for (size_t k = 0; k < shown.size();) {
    if (is_plain(text[k])) {
      ++k;
      continue;
    }
    const Utf8Character character = utf8_at(text, k);
    const size_t bytes = std::max<size_t>(character.bytes, 1);
    if (character.bytes == 0 || acts_on_display(character.code)) shown.replace(k, bytes, bytes, '?');
    k += bytes;
  }
  return shown;
}

}  // namespace kasen
