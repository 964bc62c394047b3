// Checked 64-bit sizes. Every size that comes from a file or a user passes these functions before any allocation.
#pragma once

#include <cstdint>
#include <string_view>

#include "libcore/base/error.h"

namespace kasen {

[[noreturn]] void throw_size_overflow(std::string_view what);  // UserError, ExitStatus::limit

[[nodiscard]] inline std::int64_t checked_mul(std::int64_t a, std::int64_t b, std::string_view what = "size") {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) throw_size_overflow(what);
  return result;
}

[[nodiscard]] inline std::int64_t checked_add(std::int64_t a, std::int64_t b, std::string_view what = "size") {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) throw_size_overflow(what);
  return result;
}

}  // namespace kasen
