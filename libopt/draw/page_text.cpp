#include "libopt/draw/page_text.h"

#include <algorithm>
#include <array>

#include "libcore/base/utf8.h"

namespace kasen {
namespace {

// Bytes to step over; 1 for a byte that is no UTF-8.
size_t step_over(std::string_view text, size_t at) { return std::max<size_t>(utf8_at(text, at).bytes, 1); }

constexpr std::string_view marks_up = "<>&\"'";
constexpr std::array<std::string_view, 5> escaped{"&lt;", "&gt;", "&amp;", "&quot;", "&#39;"};

}  // namespace

std::string page_text(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    const auto [code, bytes] = utf8_at(text, at);
    if (bytes == 0 || code == 0xfffe || code == 0xffff) {
      result += "\xef\xbf\xbd";
    } else if (bytes > 1) {
      result += text.substr(at, bytes);
    } else if (const size_t place = marks_up.find(c); place != std::string_view::npos) {
      result += escaped.at(place);
    } else {
      result += c == '\n' || static_cast<unsigned char>(c) >= 0x20 ? c : ' ';
    }
    at += std::max<size_t>(bytes, 1);
  }
  return result;
}

size_t text_width(std::string_view text) {
  size_t width = 0;
  for (size_t at = 0; at < text.size(); ++width) at += step_over(text, at);
  return width;
}

std::string clipped(std::string_view text, size_t most) {
  if (text_width(text) <= most) return std::string(text);
  size_t kept = 0;
  for (size_t i = 0; i + 1 < most; ++i) kept += step_over(text, kept);
  return std::string(text.substr(0, kept)) + "\xe2\x80\xa6";
}

}  // namespace kasen
