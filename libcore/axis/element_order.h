// The order of sort (axis.h) as one of integers.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "libcore/base/types.h"

namespace kasen {

// Calls use(T()) with the type of the scalar in memory.
template <class Use>
void with_type(Scalar scalar, const Use& use) {
  if (scalar == Scalar::f64) return use(double());
  if (scalar == Scalar::f32) return use(float());
  if (scalar == Scalar::i32) return use(std::int32_t());
  if (scalar == Scalar::boolean) return use(std::uint8_t());
  return use(std::int64_t());
}

// An integer of the same order and size: of reals, by their bits (IEEE 754, totalOrder), with one NaN behind all.
template <class T>
auto order_key(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
    if (std::isnan(x)) return std::numeric_limits<Bits>::max();
    const auto bits = std::bit_cast<Bits>(x);
    return bits < 0 ? static_cast<Bits>(bits ^ std::numeric_limits<Bits>::max()) : bits;
  } else {
    return x;
  }
}

template <class T, class Key>
T from_key(Key key) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::bit_cast<T>(key < 0 ? static_cast<Key>(key ^ std::numeric_limits<Key>::max()) : key);
  } else {
    return key;
  }
}

}  // namespace kasen
