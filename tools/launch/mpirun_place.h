// Where mpirun and its ranks work: folders of their own, room in them, and a network no wider than the job.
#pragma once

#include <optional>
#include <string>

#include "tools/system/job_folder.h"

namespace kasen::tools {

// For one job. Open MPI waits for ever, or fails without a word of the disk, where it lacks room; so that is looked at
// before it starts. What killed jobs have left is removed.
class MpirunPlace {
 public:
  // Sets what mpirun inherits. UserError: cannot_create, limit, with the folder's name.
  explicit MpirunPlace(int ranks);
  // Whether all of the job is on this machine: no batch job of several nodes, no file of hosts.
  [[nodiscard]] bool here() const { return here_; }
  // What ranks load before their libraries, as this process does: what mpirun itself loads is not for them.
  [[nodiscard]] const std::string& preloaded() const { return preloaded_before_; }
  // Of a job that failed: the folder that has no room by now; "" where all have some.
  [[nodiscard]] std::string full_folder() const;

 private:
  bool here_;
  std::string session_above_, segments_above_;
  std::optional<JobFolder> session_, segments_;
  std::string preloaded_before_;
};

[[nodiscard]] bool ranks_stay_here();

}  // namespace kasen::tools
