#include "libcomm/data/base/spread.h"

#include <algorithm>

#include "libcore/data/data.h"

namespace kasen {
namespace {

template <class T>
void to_planes_of(const std::byte* from, std::int64_t first, std::int64_t last, const ElementMemory& to) {
  const std::int64_t planes = to.element.planes();
  for (std::int64_t p = 0; p < planes; ++p) {
    const std::int64_t begin = (first - p + planes - 1) / planes, end = (last - p + planes - 1) / planes;
    const T* const source = reinterpret_cast<const T*>(from);
    T* const plane = reinterpret_cast<T*>(to.data + plane_offset(to.element, to.capacity, p));
    for (std::int64_t e = begin; e < end; ++e) plane[e] = source[e * planes + p - first];
  }
}

}  // namespace

void spread(const std::byte* from, std::int64_t first, std::int64_t last, const ElementMemory& to) {
  const std::int64_t width = scalar_bytes(to.element.plane_scalar(0));
  const auto move = width == 8   ? to_planes_of<std::uint64_t>
                    : width == 4 ? to_planes_of<std::uint32_t>
                                 : to_planes_of<std::uint8_t>;
  constexpr std::int64_t piece = 4096;  // a piece is in the first cache still when its last plane is taken
  for (std::int64_t begin = first; begin < last; begin += piece)
    move(from + (begin - first) * width, begin, std::min(last, begin + piece), to);
}

}  // namespace kasen
