// How much memory a process may still take.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kasen {

// Bytes: the least of what the machine has available, what a limit on the process's address space (ulimit -v) leaves,
// and what the process's control group leaves (a Slurm job, a container). Nothing where the system does not say.
[[nodiscard]] std::optional<std::int64_t> available_memory();
// The part of it that all processes of the machine or the control group share: without the limit on an address space.
[[nodiscard]] std::optional<std::int64_t> shared_memory();
// From now on so much is available, whatever the system says (below 0: what it says): for tests of what is refused.
void set_available_memory(std::int64_t bytes);

// The last of these, by the files below `root` (tests have some of their own). Both versions of control groups; the
// limits of the groups around this one hold, too. File pages that the kernel would drop first count as free.
[[nodiscard]] std::optional<std::int64_t> group_memory(const std::string& root = "");

}  // namespace kasen
