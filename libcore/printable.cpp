#include "libcore/printable.h"

#include <algorithm>

#include "libcore/utf8.h"

namespace kasen {

std::string printable(std::string_view text) {
  std::string shown(text);
  for (size_t k = 0; k < shown.size();) {
    const Utf8Character character = utf8_at(text, k);
    const std::uint32_t code = character.code;
    const bool control = (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7f && code < 0xa0);
    const size_t bytes = std::max<size_t>(character.bytes, 1);
    if (control || character.bytes == 0) shown.replace(k, bytes, bytes, '?');
    k += bytes;
  }
  return shown;
}

}  // namespace kasen
