#include "libopt/picture/page_text.h"

#include <array>
#include <cstdint>

namespace kasen {
namespace {

// Returns the bytes of the code point at the beginning. It returns 0 if this is not UTF-8: a stray or missing byte, a
// longer form than needed, half of a pair, or beyond the last one.
size_t code_point(std::string_view text) {
  const auto at = [&](size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t first = at(0);
  if (first < 0x80) return 1;
  const size_t bytes = first >= 0xf0 && first < 0xf8 ? 4 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xc0 ? 2 : 0;
  if (bytes == 0 || first >= 0xf8 || text.size() < bytes) return 0;
  std::uint32_t value = first & (0xffU >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    if ((at(i) & 0xc0U) != 0x80) return 0;
    value = value << 6 | (at(i) & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  const bool half = value >= 0xd800 && value < 0xe000;
  return value < least.at(bytes) || half || value > 0x10ffff ? 0 : bytes;
}

void add_escaped(std::string& result, char c) {
  switch (c) {
    case '<':
      result += "&lt;";
      return;
    case '>':
      result += "&gt;";
      return;
    case '&':
      result += "&amp;";
      return;
    case '"':
      result += "&quot;";
      return;
    case '\'':
      result += "&#39;";
      return;
    default:
      result += c == '\n' || static_cast<unsigned char>(c) >= 0x20 ? c : ' ';
  }
}

}  // namespace

std::string page_text(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const size_t bytes = code_point(text);
    if (bytes == 0) {
      result += "\xef\xbf\xbd";
    } else if (bytes == 1) {
      add_escaped(result, text[0]);
    } else {
      result += text.substr(0, bytes);
    }
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return result;
}

size_t text_width(std::string_view text) {
  size_t width = 0;
  for (; !text.empty(); ++width) text.remove_prefix(code_point(text) == 0 ? 1 : code_point(text));
  return width;
}

std::string clipped(std::string_view text, size_t most) {
  if (text_width(text) <= most) return std::string(text);
  size_t kept = 0;
  for (size_t i = 0; i + 1 < most; ++i) {
    const size_t bytes = code_point(text.substr(kept));
    kept += bytes == 0 ? 1 : bytes;
  }
  return std::string(text.substr(0, kept)) + "\xe2\x80\xa6";
}

}  // namespace kasen
