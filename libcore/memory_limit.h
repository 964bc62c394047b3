// How much memory a process may still take.
#pragma once

#include <cstdint>
#include <optional>

namespace kasen {

// Bytes: what the machine has available, or what is left of a limit on the process's address space (ulimit -v) where
// that is less. Nothing where the system does not say.
[[nodiscard]] std::optional<std::int64_t> available_memory();

}  // namespace kasen
