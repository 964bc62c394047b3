// The processors that a process may use, and the threads that it starts on them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace kasen {

// A bit for each processor of the machine.
using ProcessorMask = std::array<std::int64_t, 128>;

// The processors that this process may run on: those that taskset, mpirun, srun, a container or a batch job left it.
// None if the system does not report them.
[[nodiscard]] ProcessorMask allowed_mask();
// The number of these; at least 1.
[[nodiscard]] int allowed_processors();

// The time that the control group with the tightest limit gives, as a number of processors, and the system's number of
// that group.
struct GroupTime {
  double processors;
  std::int64_t group;
};
[[nodiscard]] std::optional<GroupTime> group_time(const std::string& root = "");

// Threads that the user's environment requests for each process: OMP_NUM_THREADS (the first number of a list), else
// SLURM_CPUS_PER_TASK; 0 if neither holds a number.
[[nodiscard]] int threads_of_environment();

// Threads for a process that has the machine to itself: those of the environment, else one for each processor. Never
// more than the processors and the control group's time that it may use. At least 1.
[[nodiscard]] int usable_threads();
// Sets the number from now on: for a rank, which shares the machine with others, or on the user's request.
void set_usable_threads(int threads);

}  // namespace kasen
