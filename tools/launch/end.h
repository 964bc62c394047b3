// The report on a job that ended without a message of its own: by a signal, or by mpirun.
#pragma once

#include <optional>
#include <string>

#include "libcore/base/error.h"

namespace kasen::tools {

struct JobEnd {
  int status = 0;                  // mpirun's, or 128 and the signal that ended it
  bool reported_by_mpirun = true;  // else a signal ended mpirun itself
  bool began = true;               // some rank did
  std::string options;             // the user's for mpirun, as a line of a shell; empty: none
  std::string line;                // with which mpirun was started, up to the ranks' own arguments
  std::string other;               // other output of mpirun and its ranks
  std::string checkpoints;         // the run's folder of checkpoints; empty: none
  std::string full_folder;         // one of the job's folders that is full; empty: none
};

// The newest checkpoint in a run's folder of checkpoints, from which it would go on; empty: none.
[[nodiscard]] std::string newest_checkpoint(const std::string& folder);

struct ReportedEnd {
  std::string other;  // what mpirun and its ranks told, which says more
  Diagnostic told;
  std::optional<ExitStatus> status;  // none: that of the job
};
[[nodiscard]] ReportedEnd reported_end(const JobEnd& end);

// The reason and the remedy for a full folder.
[[nodiscard]] std::string full_folder_text(const std::string& folder);
inline constexpr const char* room_remedy = "make room there, or set TMPDIR to another folder";

}  // namespace kasen::tools
