#include "libcore/data/mirrored.h"

#include <algorithm>
#include <cstring>

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

void copy_some(const ElementType& element, const PlaceCopy& copy, std::int64_t begin, std::int64_t end) {
  for (std::int64_t p = 0; p < element.planes(); ++p) {
    const std::int64_t size = scalar_bytes(element.plane_scalar(p));
    const std::byte* source = copy.source.data + plane_offset(element, copy.source.capacity, p);
    std::byte* target = copy.target.data + plane_offset(element, copy.target.capacity, p);
    std::int64_t done = begin;
    copy.from->for_each_run(begin, end, [&](std::int64_t from, std::int64_t count) {
      copy.to->for_each_run(done, done + count, [&](std::int64_t to, std::int64_t some) {
        std::memmove(target + to * size, source + from * size, static_cast<std::size_t>(some * size));
        from += some;
      });
      done += count;
    });
  }
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
