#include "libcore/base/utf8.h"

#include <array>

namespace kasen {

Utf8Character utf8_at(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  const std::size_t length = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;
  if (length == 0 || text.size() - at < length) return {};
  std::uint32_t code = length == 1 ? first : first & (0x7FU >> length);
  for (std::size_t k = 1; k < length; ++k) {
    const auto next = static_cast<unsigned char>(text[at + k]);
    if (next >> 6 != 2) return {};
    code = code << 6 | (next & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};  // each code has only its shortest form
  const bool half = code >= 0xD800 && code <= 0xDFFF;                        // of a UTF-16 pair
  if (code < least.at(length) || code > 0x10FFFF || half) return {};
  return {code, length};
}

}  // namespace kasen
