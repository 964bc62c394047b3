// The processors that a process may use, and the threads that it starts on them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace kasen {

// A bit for each processor of the machine.
using ProcessorMask = std::array<std::int64_t, 128>;

// Those that this process may run on: what taskset, mpirun, srun, a container or a batch job left it. None where the
// system does not tell.
[[nodiscard]] ProcessorMask allowed_mask();
// How many these are; at least 1.
[[nodiscard]] int allowed_processors();

// Processors' worth of time that the control group with the tightest limit gives, and the number by which the system
// knows that group.
struct GroupTime {
  double processors;
  std::int64_t group;
};
[[nodiscard]] std::optional<GroupTime> group_time(const std::string& root = "");

// Threads that the user's environment asks each process for: OMP_NUM_THREADS (of a list the first number), else
// SLURM_CPUS_PER_TASK; 0 where neither holds a number.
[[nodiscard]] int threads_of_environment();

// Threads for a process that has the machine to itself: those of the environment, else one for each processor, never
// more than it may use of these and of the control group's time. At least 1.
[[nodiscard]] int usable_threads();
// From now on it is so many: of a rank, which shares the machine with others, or because the user says so.
void set_usable_threads(int threads);

}  // namespace kasen
