// A component of an element by its number, and small arrays in memory: the common part of the files of elements.h.
#pragma once

#include <optional>

#include "libkernels/emit/emit.h"

namespace kasen {

[[nodiscard]] inline Scalar scalar_of(const ElementType& element, int component) {
  return element.components[static_cast<size_t>(component)].scalar;
}
[[nodiscard]] inline std::int64_t count_of(const ElementType& element, int component) {
  return element.components[static_cast<size_t>(component)].count;
}
[[nodiscard]] inline int components_of(const ElementType& element) {
  return static_cast<int>(element.components.size());
}

// Memory for a small array, which registers replace if there are few coordinates; null for a scalar.
[[nodiscard]] llvm::Value* make_array(Emitter& emitter, const Component& component);

// The number of a coordinate that is known at generation time.
[[nodiscard]] std::optional<std::int64_t> known_coordinate(const Plane* coordinate);

// Bytes of one coordinate of all lanes in scratch memory.
[[nodiscard]] inline std::int64_t strip_bytes(const Emitter& emitter, Scalar scalar) {
  return scalar_bytes(scalar) * emitter.lanes();
}

}  // namespace kasen
