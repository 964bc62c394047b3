// The files that Open MPI leaves in /dev/shm where ranks are killed; ranks of one machine exchange through them.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

namespace kasen::tools {

struct SharedSegment {
  std::string path;
  std::int64_t bytes = 0;
};

// This user's segments that no process has mapped, made at `since` or later. It leaves out those younger than `age`
// seconds, which somebody may be about to map. `root` is put before /dev and /proc.
[[nodiscard]] std::vector<SharedSegment> left_segments(const std::string& root, std::time_t since, std::time_t age = 2);

}  // namespace kasen::tools
