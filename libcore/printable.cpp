#include "libcore/printable.h"

namespace kasen {

std::string printable(std::string_view text) {
  std::string shown(text);
  for (size_t k = 0; k < shown.size(); ++k) {
    const auto byte = static_cast<unsigned char>(shown[k]);
    const bool control = (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f;
    const bool wide = byte == 0xc2 && k + 1 < shown.size() && static_cast<unsigned char>(shown[k + 1]) < 0xa0;
    if (control || wide) shown[k] = '?';
    if (wide) shown[++k] = '?';
  }
  return shown;
}

}  // namespace kasen
