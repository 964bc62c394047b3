#include "libcomm/data/sources/npy_head.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>

namespace kasen {

// NumPy's format 1.0: magic, version, length of the header, a Python literal padded to 64 bytes.
std::string npy_header(std::string_view type, const std::vector<std::int64_t>& extents) {
  std::string shape;
  for (const std::int64_t e : extents) shape += fmt::format("{},", e);
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}),}}", type, shape);
  constexpr std::size_t before = 10;
  text.resize((before + text.size() + 1 + 63) / 64 * 64 - before - 1, ' ');
  text += '\n';
  const std::array<char, before> magic{'\x93',
                                       'N',
                                       'U',
                                       'M',
                                       'P',
                                       'Y',
                                       1,
                                       0,
                                       static_cast<char>(text.size() & 0xff),
                                       static_cast<char>(text.size() >> 8)};
  return std::string(magic.data(), magic.size()) + text;
}

}  // namespace kasen
