#include "libcore/data/mirrored.h"

#include <algorithm>

namespace kasen {
namespace {

// Calls `visit(array's plane at `first`, bytes)` for each plane.
template <class Visit>
void each_plane(const ElementType& element, const View& array, std::int64_t first, std::int64_t count,
                const Visit& visit) {
  for (std::int64_t p = 0; p < element.planes(); ++p) {
    const std::int64_t size = scalar_bytes(element.plane_scalar(p));
    visit(array.data + plane_offset(element, array.capacity, p) + first * size, count * size);
  }
}

}  // namespace

std::byte* Mirrored::copies_at(const ElementType& element, std::int64_t p) const {
  if (!packed) {
    return copies.data + plane_offset(element, copies.capacity, p) + first * scalar_bytes(element.plane_scalar(p));
  }
  std::byte* at = copies.data;
  for (std::int64_t before = 0; before < p; ++before) at += count() * scalar_bytes(element.plane_scalar(before));
  return at;
}

void to_message(const ElementType& element, const View& array, std::int64_t first, std::int64_t count,
                std::byte* message) {
  each_plane(element, array, first, count,
             [&](const std::byte* plane, std::int64_t bytes) { message = std::copy_n(plane, bytes, message); });
}

void from_message(const ElementType& element, const std::byte* message, std::int64_t count, const View& array,
                  std::int64_t first) {
  each_plane(element, array, first, count, [&](std::byte* plane, std::int64_t bytes) {
    std::copy_n(message, bytes, plane);
    message += bytes;
  });
}

}  // namespace kasen
