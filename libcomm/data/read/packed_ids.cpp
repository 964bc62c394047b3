#include "libcomm/data/read/packed_ids.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace kasen {
namespace {

constexpr std::int64_t slack = 8;  // offsets are read and written as whole words

int width_of(std::uint64_t largest) { return (64 - std::countl_zero(largest) + 7) / 8; }

std::uint64_t mask_of(int width) { return width == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * width) - 1; }

void put(std::byte* to, std::uint64_t offset) { std::memcpy(to, &offset, sizeof offset); }

std::uint64_t get(const std::byte* from) {
  std::uint64_t offset = 0;
  std::memcpy(&offset, from, sizeof offset);
  return offset;
}

// The compiler knows the width, so the loop has no variable shift.
template <class T, int width>
void unpack_width(const std::byte* from, std::int64_t count, std::uint64_t base, T* to) {
  const std::uint64_t mask = mask_of(width);
  for (std::int64_t k = 0; k < count; ++k) to[k] = static_cast<T>(base + (get(from + k * width) & mask));
}

template <class T>
using Unpack = void (*)(const std::byte*, std::int64_t, std::uint64_t, T*);
template <class T>
constexpr std::array<Unpack<T>, 9> unpackers{unpack_width<T, 0>, unpack_width<T, 1>, unpack_width<T, 2>,
                                             unpack_width<T, 3>, unpack_width<T, 4>, unpack_width<T, 5>,
                                             unpack_width<T, 6>, unpack_width<T, 7>, unpack_width<T, 8>};

constexpr std::int64_t length_bytes = 4;

}  // namespace

PackedIds::PackedIds(std::span<const std::int64_t> ids) { pack(ids); }
PackedIds::PackedIds(std::span<const std::int32_t> ids) { pack(ids); }

void PackedIds::shift(std::int64_t by) {
  base_ += by;
  largest_ += by;
}

template <class T>
void PackedIds::pack(std::span<const T> ids) {
  if (ids.empty()) return;
  size_ = static_cast<std::int64_t>(ids.size());
  T low = ids[0], high = ids[0];
  std::int64_t runs = 1;
  for (std::size_t k = 1; k < ids.size(); ++k) {
    low = std::min(low, ids[k]);
    high = std::max(high, ids[k]);
    runs += ids[k] != ids[k - 1] ? 1 : 0;
  }
  base_ = low;
  largest_ = high;
  const auto base = static_cast<std::uint64_t>(base_);
  width_ = width_of(static_cast<std::uint64_t>(largest_) - base);
  const bool by_runs = runs * (width_ + length_bytes) < size_ * width_;
  runs_ = by_runs ? runs : 0;
  bytes_ = by_runs ? runs * (width_ + length_bytes) : size_ * width_;
  data_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes_ + slack));
  std::byte* to = data_.get();
  if (!by_runs) {
    for (const T id : ids) {
      put(to, static_cast<std::uint64_t>(id) - base);
      to += width_;
    }
    return;
  }
  for (std::size_t k = 0, next = 0; k < ids.size(); k = next) {
    while (next < ids.size() && ids[next] == ids[k]) ++next;
    put(to, static_cast<std::uint64_t>(ids[k]) - base);
    put(to + width_, next - k);
    to += width_ + length_bytes;
  }
}

void PackedIds::move_to(PieceFile& file) {
  if (data_ == nullptr) return;
  spilled_ = file.add(data_.get(), bytes_);
  data_ = nullptr;
}

template <class T>
void PackedIds::unpack_as(T* to) const {
  if (size_ == 0) return;
  std::unique_ptr<std::byte[]> loaded;
  if (spilled_.holds()) {
    loaded = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes_ + slack));
    spilled_.load(loaded.get());
  }
  const std::byte* from = loaded != nullptr ? loaded.get() : data_.get();
  if (runs_ == 0)
    return unpackers<T>[static_cast<std::size_t>(width_)](from, size_, static_cast<std::uint64_t>(base_), to);
  const std::uint64_t mask = mask_of(width_), length_mask = mask_of(length_bytes);
  for (std::int64_t r = 0; r < runs_; ++r, from += width_ + length_bytes) {
    const auto id = static_cast<T>(static_cast<std::uint64_t>(base_) + (get(from) & mask));
    to = std::fill_n(to, get(from + width_) & length_mask, id);
  }
}

void PackedIds::unpack(std::int64_t* to) const { unpack_as(to); }
void PackedIds::unpack(std::int32_t* to) const { unpack_as(to); }

}  // namespace kasen
