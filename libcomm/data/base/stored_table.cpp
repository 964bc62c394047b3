#include "libcomm/data/base/stored_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <utility>
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

StoredFile::StoredFile(const StoredTable& table)
    : file_(FileHandle::open_to_read(table.path)), head_(table.head), opened_(file_.times()) {
  const std::int64_t bytes = opened_.bytes;
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

StoredFile::Loaded StoredFile::map(const ElementType& element, std::int64_t count, std::int64_t offset) const {
  std::optional<Loaded> loaded = mapped(element, count, offset);
  return loaded ? std::move(*loaded) : load(element, count, offset);
}

// Behind the last element, at most 63 bytes up to the next multiple of 64 belong to the array, too. They lie in the
// same page, be they of the file or not.
std::optional<StoredFile::Loaded> StoredFile::mapped(const ElementType& element, std::int64_t count,
                                                     std::int64_t offset) const {
  constexpr std::int64_t few_bytes = 1 << 16;  // are copied faster
  const std::int64_t bytes = stored_bytes(element, count);
  if (element.planes() != 1 || offset % 64 != 0 || bytes < few_bytes) return std::nullopt;
  auto memory = std::make_shared<const MappedFile>(file_.descriptor(), offset, bytes, file_.path());
  if (memory->data() == nullptr) return std::nullopt;
  BlockDigest digest(bytes);
  std::atomic<bool> whole = true;
  parallel_for(digest.blocks(), [&](std::int64_t k, int) {
    const std::int64_t first = k * BlockDigest::block;
    if (!memory->bring_in(first, digest.bytes_of(k))) whole = false;
    if (whole) digest.set(k, memory->data() + first);
  });
  if (!whole) return std::nullopt;  // reading states the reason
  Bytes held(memory, memory->data(), storage_bytes(element, count));
  return Loaded{Array(element, count, std::move(held)), digest.hex(), std::move(memory)};
}

bool StoredFile::is_as_it_was() const { return file_.times() == opened_; }

void MappedTables::add(std::shared_ptr<const StoredFile> file, const StoredFile::Loaded& loaded, std::int64_t bytes) {
  if (loaded.memory != nullptr) tables_.push_back({std::move(file), loaded.memory, bytes, loaded.digest});
}

// The times show who wrote and put the old content back; the digest shows who wrote through a mapping, which the times
// need not.
void MappedTables::check() const {
  for (const Table& table : tables_) {
    BlockDigest digest(table.bytes);
    parallel_for(digest.blocks(),
                 [&](std::int64_t k, int) { digest.set(k, table.memory->data() + k * BlockDigest::block); });
    if (table.file->is_as_it_was() && digest.hex() == table.digest) continue;
    fail(ExitStatus::bad_input, fmt::format("'{}' was written while it was in use", table.file->path()),
         "what was computed may be of its old content, its new one, or both", "start again");
  }
}

}  // namespace kasen
