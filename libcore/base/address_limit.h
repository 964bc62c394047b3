/// \file
/// The limit on a process's address space (ulimit -v): where it is what refuses memory, messages name it.
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <optional>

namespace kasen {

/// In bytes; none: there is no such limit. Allocates no memory.
[[nodiscard]] inline std::optional<std::int64_t> address_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return static_cast<std::int64_t>(limit.rlim_cur);
}

}  // namespace kasen
