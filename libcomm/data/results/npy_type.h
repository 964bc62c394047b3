// The scalars of results in NumPy's files; private to results.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "libcore/base/types.h"

namespace kasen {

[[nodiscard]] inline std::string_view npy_type(Scalar scalar) {
  constexpr std::array<std::string_view, 7> names{"<f8", "<f4", "<i8", "<i4", "|b1", "|u1", "<i8"};
  return names.at(static_cast<std::size_t>(scalar));
}

}  // namespace kasen
