#include "libcomm/data/read/entry_list.h"

#include <malloc.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace kasen {
namespace {

constexpr std::size_t chunk_entries = std::size_t{1} << 16;

// Planes are aligned for their numbers.
std::int64_t offset_of(const ElementType& element, std::int64_t plane, std::int64_t count) {
  std::int64_t offset = 0;
  for (std::int64_t p = 0; p < plane; ++p) offset += (scalar_bytes(element.plane_scalar(p)) * count + 7) / 8 * 8;
  return offset;
}

std::vector<std::int64_t> unpack_all(const EntryList& list, PackedIds EntryChunk::*axis) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(list.count()));
  std::int64_t* to = ids.data();
  for (const EntryChunk& chunk : list.chunks) {
    (chunk.*axis).unpack(to);
    to += chunk.count();
  }
  return ids;
}

}  // namespace

PackedValues::PackedValues(const ElementType& element, std::int64_t count) : count_(count) {
  bytes_ = element.bytes() > 0 ? offset_of(element, element.planes(), count) : 0;
  if (bytes_ > 0) data_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes_));
}

void PackedValues::move_to(PieceFile& file) {
  if (data_ == nullptr) return;
  spilled_ = file.add(data_.get(), bytes_);
  data_ = nullptr;
}

const PackedValues& PackedValues::held(PackedValues& room) const {
  if (!spilled_.holds()) return *this;
  room.count_ = count_;
  room.bytes_ = bytes_;
  room.data_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes_));
  spilled_.load(room.data_.get());
  return room;
}

void PackedValues::hold() {
  if (!spilled_.holds()) return;
  PackedValues room;
  (void)held(room);
  *this = std::move(room);
}

void EntryChunk::move_to(PieceFile& file) {
  rows.move_to(file);
  cols.move_to(file);
  values.move_to(file);
}

PackedValues::PackedValues(const Array& from, std::int64_t first, std::int64_t count)
    : PackedValues(from.element, count) {
  for (std::int64_t p = 0; data_ != nullptr && p < from.element.planes(); ++p) {
    const std::int64_t width = scalar_bytes(from.element.plane_scalar(p));
    std::memcpy(plane(from.element, p), from.plane(p) + first * width, static_cast<std::size_t>(count * width));
  }
}

std::byte* PackedValues::plane(const ElementType& element, std::int64_t p) {
  return data_.get() + offset_of(element, p, count_);
}

const std::byte* PackedValues::plane(const ElementType& element, std::int64_t p) const {
  return data_.get() + offset_of(element, p, count_);
}

EntryList::EntryList(const std::vector<std::int64_t>& rows, const std::vector<std::int64_t>& cols, const Array& values)
    : element(values.element) {
  for (std::size_t first = 0; first < rows.size(); first += chunk_entries) {
    const std::size_t count = std::min(chunk_entries, rows.size() - first);
    chunks.push_back(
        {PackedIds(std::span(rows).subspan(first, count)), PackedIds(std::span(cols).subspan(first, count)), {}});
    if (valued())
      chunks.back().values = PackedValues(values, static_cast<std::int64_t>(first), static_cast<std::int64_t>(count));
  }
}

std::int64_t EntryList::count() const {
  std::int64_t total = 0;
  for (const EntryChunk& chunk : chunks) total += chunk.count();
  return total;
}

void release_freed_memory() { malloc_trim(0); }

// The allocator would raise these with each large block that is freed, up to 64 MiB in each thread's heap.
void keep_little_free_memory() {
  constexpr int large_block = 1 << 18, kept = 1 << 20;
  (void)mallopt(M_MMAP_THRESHOLD, large_block);
  (void)mallopt(M_TRIM_THRESHOLD, kept);
}

std::vector<std::int64_t> EntryList::rows() const { return unpack_all(*this, &EntryChunk::rows); }
std::vector<std::int64_t> EntryList::cols() const { return unpack_all(*this, &EntryChunk::cols); }

Array EntryList::values() const {
  Array all(element, count());
  std::int64_t first = 0;
  PackedValues room;
  for (const EntryChunk& chunk : chunks) {
    const PackedValues& values = chunk.values.held(room);
    for (std::int64_t p = 0; valued() && p < element.planes(); ++p) {
      const std::int64_t width = scalar_bytes(element.plane_scalar(p));
      std::memcpy(all.plane(p) + first * width, values.plane(element, p),
                  static_cast<std::size_t>(chunk.count() * width));
    }
    first += chunk.count();
  }
  return all;
}

}  // namespace kasen
