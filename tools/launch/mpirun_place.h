// The folders of mpirun and its ranks, with enough room in them, and a network no wider than the job.
#pragma once

#include <optional>
#include <string>

#include "tools/system/job_folder.h"

namespace kasen::tools {

// For one job. Without room, Open MPI waits for ever, or fails without a word of the disk, so the room is checked
// before it starts. Leftovers of killed jobs are removed.
class MpirunPlace {
 public:
  // Sets the environment that mpirun inherits. UserError: cannot_create, limit, with the folder's name.
  explicit MpirunPlace(int ranks);
  // Whether all of the job is on this machine: no batch job of several nodes, no file of hosts.
  [[nodiscard]] bool here() const { return here_; }
  // The LD_PRELOAD of the ranks, which is that of this process; the library that mpirun preloads is not for them.
  [[nodiscard]] const std::string& preloaded() const { return preloaded_before_; }
  // For a failed job: the folder that is full by now; "" where none is.
  [[nodiscard]] std::string full_folder() const;

 private:
  bool here_;
  std::string session_above_, segments_above_;
  std::optional<JobFolder> session_, segments_;
  std::string preloaded_before_;
};

[[nodiscard]] bool ranks_stay_here();

}  // namespace kasen::tools
