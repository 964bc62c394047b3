// Values that belong to one of several numbers, such as the points of each cluster: `if key == number then value else
// 0`. Kernels sum those of all numbers in one pass (libkernels/emit/keyed_sums.h), and the cost model counts one.
#pragma once

#include <cstdint>
#include <optional>

#include "libcore/scalar/scalar.h"

namespace kasen {

// A map's body `if key == number then value else 0`.
struct KeyedBody {
  const Expr *key = nullptr, *value = nullptr;
  std::int64_t number = 0;
};
[[nodiscard]] std::optional<KeyedBody> as_keyed(const Expr& body);
// Whether keyed sums can take values of such a map: floats, and integers that are small literals.
[[nodiscard]] bool may_be_keyed(const KeyedBody& body);

// Fewer numbers than this are summed sooner one after another.
inline constexpr std::int64_t least_keyed = 5;

}  // namespace kasen
