#include "libcore/base/text_width.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "libcore/base/utf8.h"

namespace kasen {
namespace {

using CodeRange = std::pair<std::uint32_t, std::uint32_t>;

constexpr std::array wide_ranges{
    CodeRange{0x1100, 0x115F},    // Hangul
    CodeRange{0x2E80, 0x303E},    // radicals and marks
    CodeRange{0x3041, 0xA4CF},    // Kana, Han, Yi
    CodeRange{0xAC00, 0xD7A3},    // Hangul
    CodeRange{0xF900, 0xFAFF},    // Han
    CodeRange{0xFE30, 0xFE6F},    // marks
    CodeRange{0xFF00, 0xFF60},    // wide forms of ASCII
    CodeRange{0x1F300, 0x1FAFF},  // pictures
    CodeRange{0x20000, 0x3FFFD},  // Han
};
constexpr std::array joining_ranges{
    CodeRange{0x0300, 0x036F}, CodeRange{0x200B, 0x200D}, CodeRange{0x20D0, 0x20FF},
    CodeRange{0xFE00, 0xFE0F}, CodeRange{0xFE20, 0xFE2F},
};

template <std::size_t Count>
bool is_in(const std::array<CodeRange, Count>& ranges, std::uint32_t code) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [code](const CodeRange& range) { return code >= range.first && code <= range.second; });
}

}  // namespace

std::string blanks_below(std::string_view text) {
  std::string blanks;
  for (std::size_t k = 0; k < text.size();) {
    const Utf8Character character = utf8_at(text, k);
    if (text[k] == '\t') {
      blanks += '\t';
    } else if (!is_in(joining_ranges, character.code)) {
      blanks.append(is_in(wide_ranges, character.code) ? 2 : 1, ' ');
    }
    k += std::max<std::size_t>(character.bytes, 1);
  }
  return blanks;
}

}  // namespace kasen
