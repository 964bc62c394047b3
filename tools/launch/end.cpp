#include "tools/launch/end.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <vector>

#include "libcomm/data/checkpoint/checkpoint.h"

namespace kasen::tools {
namespace {

constexpr int mpirun_failed = 1;  // no rank ends so without a message

// A rank that INT, TERM or HUP reaches leaves without a message; mpirun reports its status, or the signal's. mpirun
// prints nothing either when it is itself asked to end.
bool was_interrupted(const JobEnd& end) {
  constexpr std::array signals{SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
  return end.status == static_cast<int>(ExitStatus::interrupted) ||
         (end.status == mpirun_failed && end.other.empty()) ||
         std::any_of(signals.begin(), signals.end(), [&](int number) { return end.status == 128 + number; });
}

// The signal that killed a rank; 0: none did.
int killer_of(const JobEnd& end) {
  return end.reported_by_mpirun && end.status > 128 && end.status < 128 + NSIG ? end.status - 128 : 0;
}

// Sent from outside: the machine, the batch system or somebody ended the rank; it is no error of its own.
bool is_sent(int signal) { return signal == SIGKILL || signal == SIGXCPU || signal == SIGXFSZ; }

std::string going_on(const std::string& checkpoint) {
  if (checkpoint.empty()) return "--checkpoint DIR --resume would go on from what was saved";
  return fmt::format("all is saved in {}; the same command with --resume goes on from there", checkpoint);
}

std::string killed_text(int signal, const JobEnd& end, const std::string& checkpoint) {
  const char* name = sigabbrev_np(signal);
  const std::string why = is_sent(signal)
                              ? "the system does so where memory runs out, a batch job where a limit is reached"
                              : "this is a bug of Kasen or of a library";
  return fmt::format("{}kasen-run: error: a rank was killed by signal {} (SIG{}); {}; {}\n", end.other, signal,
                     name == nullptr ? "?" : name, why, going_on(checkpoint));
}

// Open MPI ends a rank that it cannot start, and at best reports why.
bool lacks_mpi(const JobEnd& end) {
  return end.status == mpirun_failed && end.other.find("An error occurred in MPI_Init") != std::string::npos;
}

std::string unstarted_text(const JobEnd& end) {
  return fmt::format("{}kasen-run: error: MPI does not start in a rank; it lacks memory, or another resource; {}\n",
                     end.other,
                     end.full_folder.empty() ? "see above, and 'kasen doctor'" : no_room_in(end.full_folder));
}

std::string mpirun_text(const JobEnd& end) {
  return fmt::format(
      "{}kasen-run: error: mpirun failed; it ended with status {}; {}\n", end.other, end.status,
      end.full_folder.empty() ? "see above, and 'kasen doctor --only mpi'" : no_room_in(end.full_folder));
}

}  // namespace

std::string no_room_in(const std::string& folder) {
  return fmt::format("'{}' is full; make room there, or set TMPDIR to another folder", folder);
}

std::string newest_checkpoint(const std::string& folder) {
  if (folder.empty()) return "";
  try {
    std::vector<std::string> all = checkpoints_in(folder);
    while (!all.empty() && !is_checkpoint(all.back())) all.pop_back();
    return all.empty() ? "" : all.back();
  } catch (const UserError&) {  // the folder was not made yet
    return "";
  }
}

ReportedEnd reported_end(const JobEnd& end) {
  const std::string checkpoint = newest_checkpoint(end.checkpoints);
  if (was_interrupted(end))
    return {
        fmt::format("kasen-run: error: the job was interrupted; a signal ended one of its ranks or mpirun; start it "
                    "again; {}\n",
                    going_on(checkpoint)),
        ExitStatus::interrupted};
  if (lacks_mpi(end)) return {unstarted_text(end), ExitStatus::limit};
  if (end.status == mpirun_failed) return {mpirun_text(end), ExitStatus::internal};
  if (const int signal = killer_of(end); signal != 0) {
    const ExitStatus stopped = checkpoint.empty() ? ExitStatus::limit : ExitStatus::resumable;
    return {killed_text(signal, end, checkpoint), is_sent(signal) ? stopped : ExitStatus::internal};
  }
  return {fmt::format("{}kasen-run: error: the job ended with status {}; {} without a message; {}\n", end.other,
                      end.status, end.reported_by_mpirun ? "a rank died" : "mpirun was killed",
                      end.full_folder.empty() ? going_on(checkpoint) : no_room_in(end.full_folder)),
          std::nullopt};
}

}  // namespace kasen::tools
