#include "libkernels/movers.h"

namespace kasen {
namespace {

// Calls move(T{}, plane's address, packed plane) for each plane, T an integer of the plane's size.
template <class Move>
void for_each_size(const ElementType& element, std::int64_t capacity, std::byte* data, std::byte* packed,
                   std::int64_t count, const Move& move) {
  for (std::int64_t p = 0; p < element.planes(); ++p) {
    const std::int64_t size = scalar_bytes(element.plane_scalar(p));
    std::byte* plane = data + plane_offset(element, capacity, p);
    if (size == 8) move(reinterpret_cast<std::uint64_t*>(plane), packed);
    if (size == 4) move(reinterpret_cast<std::uint32_t*>(plane), packed);
    if (size == 1) move(reinterpret_cast<std::uint8_t*>(plane), packed);
    packed += count * size;
  }
}

// Packed planes follow one another without padding, so that those behind the first may be unaligned.
template <class T>
T load(const std::byte* packed, std::int64_t k) {
  T value{};
  __builtin_memcpy(&value, packed + k * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <class T>
void store(std::byte* packed, std::int64_t k, T value) {
  __builtin_memcpy(packed + k * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

}  // namespace

void pack_elements(ThreadPool& pool, const ElementType& element, const View& source,
                   std::span<const std::int32_t> indices, std::byte* packed) {
  const auto count = static_cast<std::int64_t>(indices.size());
  for_each_size(element, source.capacity, source.data, packed, count, [&]<class T>(T* plane, std::byte* to) {
    in_parts(pool, count, [&](int, std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) store(to, k, plane[indices[static_cast<size_t>(k)]]);
    });
  });
}

void unpack_elements(ThreadPool& pool, const ElementType& element, const View& target,
                     std::span<const std::int32_t> indices, const std::byte* packed) {
  const auto count = static_cast<std::int64_t>(indices.size());
  for_each_size(element, target.capacity, target.data, const_cast<std::byte*>(packed), count,
                [&]<class T>(T* plane, std::byte* from) {
                  in_parts(pool, count, [&](int, std::int64_t begin, std::int64_t end) {
                    for (std::int64_t k = begin; k < end; ++k)
                      plane[indices[static_cast<size_t>(k)]] = load<T>(from, k);
                  });
                });
}

}  // namespace kasen
