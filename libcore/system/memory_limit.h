/// \file
/// How much memory a process holds, and may still allocate.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kasen {

/// The least number of bytes that the machine, a limit on the address space (ulimit -v) and the limit of the control
/// group (a Slurm job, a container) leave. Empty if the system does not report it.
[[nodiscard]] std::optional<std::int64_t> available_memory();
/// The part that all processes of the machine or the control group share: without the limit on an address space.
[[nodiscard]] std::optional<std::int64_t> shared_memory();
/// The bytes of memory that this process holds now. Empty if the system does not report it.
[[nodiscard]] std::optional<std::int64_t> resident_memory();
/// The most that it ever held; 0 if the system does not report it.
[[nodiscard]] std::int64_t most_resident_memory();
/// Sets the available memory from now on, for tests of refusals. Below 0: as the system reports.
void set_available_memory(std::int64_t bytes);

/// The limit of the control group, by the files below `root` (tests have their own files). Covers both versions; the
/// limits of the groups around also hold. File pages that the kernel would drop first count as free.
[[nodiscard]] std::optional<std::int64_t> group_memory(const std::string& root = "");

}  // namespace kasen
