#include "libcomm/data/base/stored_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "libcomm/data/base/digest.h"
#include "libcomm/data/base/parallel.h"
#include "libcore/base/checked.h"
#include "libcore/base/error.h"

namespace kasen {
namespace {

// Copies scalars [first, last) of the file, at `from`, to the planes of their elements.
template <class T>
void to_planes(const std::byte* from, std::int64_t first, std::int64_t last, Array& to) {
  const std::int64_t planes = to.element.planes();
  for (std::int64_t p = 0; p < planes; ++p) {
    const std::int64_t begin = (first - p + planes - 1) / planes, end = (last - p + planes - 1) / planes;
    const T* const source = reinterpret_cast<const T*>(from);
    T* const plane = to.as<T>(p);
    for (std::int64_t e = begin; e < end; ++e) plane[e] = source[e * planes + p - first];
  }
}

void spread(const std::byte* from, std::int64_t first, std::int64_t last, Array& to) {
  const std::int64_t width = scalar_bytes(to.element.plane_scalar(0));
  const auto move = width == 8   ? to_planes<std::uint64_t>
                    : width == 4 ? to_planes<std::uint32_t>
                                 : to_planes<std::uint8_t>;
  constexpr std::int64_t piece = 4096;  // a piece is in the first cache still when its last plane is taken
  for (std::int64_t begin = first; begin < last; begin += piece)
    move(from + (begin - first) * width, begin, std::min(last, begin + piece), to);
}

}  // namespace

std::int64_t stored_bytes(const ElementType& element, std::int64_t count) {
  const std::int64_t scalars = checked_mul(count, element.planes(), "an array's size");
  return checked_mul(scalars, scalar_bytes(element.plane_scalar(0)), "an array's size");
}

StoredFile::StoredFile(const StoredTable& table) : file_(FileHandle::open_to_read(table.path)), head_(table.head) {
  const std::int64_t bytes = file_.size();
  if (bytes != table.bytes)
    fail(ExitStatus::bad_input, fmt::format("'{}' has {} bytes", table.path, bytes),
         fmt::format("it had {} when the data was cut", table.bytes), "make the bundle again");
}

std::string StoredFile::head_digest() const { return digest_of_range(file_, 0, head_); }

std::string StoredFile::digest(std::int64_t offset, std::int64_t bytes) const {
  BlockDigest digest(bytes);
  std::vector<std::vector<std::byte>> buffers(static_cast<std::size_t>(data_threads()));
  parallel_for(digest.blocks(), [&](std::int64_t k, int thread) {
    std::vector<std::byte>& buffer = buffers[static_cast<std::size_t>(thread)];
    buffer.resize(static_cast<std::size_t>(BlockDigest::block));
    file_.read(offset + k * BlockDigest::block, buffer.data(), digest.bytes_of(k));
    digest.set(k, buffer.data());
  });
  return digest.hex();
}

StoredFile::Loaded StoredFile::load(const ElementType& element, std::int64_t count, std::int64_t offset) const {
  const std::int64_t bytes = stored_bytes(element, count), width = scalar_bytes(element.plane_scalar(0));
  Loaded loaded{Array(element, count), {}};
  BlockDigest digest(bytes);
  const bool in_place = element.planes() == 1;
  std::vector<std::vector<std::byte>> buffers(static_cast<std::size_t>(in_place ? 0 : data_threads()));
  parallel_for(digest.blocks(), [&](std::int64_t k, int thread) {
    const std::int64_t first = k * BlockDigest::block, count_here = digest.bytes_of(k);
    std::byte* to = in_place ? loaded.elements.plane(0) + first : nullptr;
    if (!in_place) {
      std::vector<std::byte>& buffer = buffers[static_cast<std::size_t>(thread)];
      buffer.resize(static_cast<std::size_t>(BlockDigest::block));
      to = buffer.data();
    }
    file_.read(offset + first, to, count_here);
    digest.set(k, to);
    if (!in_place) spread(to, first / width, (first + count_here) / width, loaded.elements);
  });
  loaded.digest = digest.hex();
  return loaded;
}

}  // namespace kasen
