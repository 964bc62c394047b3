#include "tools/launch/end.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <utility>
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

Diagnostic told(std::string what, std::string why, std::string remedy) {
  Diagnostic told;
  told.what = std::move(what);
  told.why = std::move(why);
  told.remedy = std::move(remedy);
  return told;
}

// `why` and `remedy`, unless a full folder explains it.
Diagnostic told_of_folders(const JobEnd& end, std::string what, std::string why, std::string remedy) {
  if (end.full_folder.empty()) return told(std::move(what), std::move(why), std::move(remedy));
  why += why.empty() ? "" : "; ";
  return told(std::move(what), why + full_folder_text(end.full_folder), room_remedy);
}

Diagnostic killed(int signal, const std::string& checkpoint) {
  const char* name = sigabbrev_np(signal);
  return told(fmt::format("a rank was killed by signal {} (SIG{})", signal, name == nullptr ? "?" : name),
              is_sent(signal) ? "the system does so where memory runs out, a batch job where a limit is reached"
                              : "this is a bug of Kasen or of a library",
              going_on(checkpoint));
}

// Open MPI ends a rank that it cannot start, and at best reports why.
bool lacks_mpi(const JobEnd& end) {
  return end.status == mpirun_failed && end.other.find("An error occurred in MPI_Init") != std::string::npos;
}

// mpirun has not started a rank, and no signal from outside is the reason: it cannot do what its options say. Of some
// it prints nothing.
bool refuses_options(const JobEnd& end) {
  return (end.status == mpirun_failed || !was_interrupted(end)) && !end.began && !end.options.empty() &&
         end.full_folder.empty() && end.reported_by_mpirun && !is_sent(killer_of(end)) && !lacks_mpi(end);
}

}  // namespace

std::string full_folder_text(const std::string& folder) { return fmt::format("'{}' is full", folder); }

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
  if (refuses_options(end))
    return {end.other,
            told(fmt::format("mpirun starts no rank with --mpirun {}", end.options),
                 fmt::format("it ended with status {}; its line was: {}", end.status, end.line),
                 end.other.empty() ? "try that line without -q, which keeps mpirun's message back"
                                   : "see above, and 'mpirun --help'"),
            ExitStatus::usage};
  if (was_interrupted(end))
    return {"",
            told("the job was interrupted", "a signal ended one of its ranks or mpirun",
                 "start it again; " + going_on(checkpoint)),
            ExitStatus::interrupted};
  if (lacks_mpi(end))
    return {end.other,
            told_of_folders(end, "MPI does not start in a rank", "it lacks memory, or another resource",
                            "see above, and 'kasen doctor'"),
            ExitStatus::limit};
  if (end.status == mpirun_failed)
    return {end.other,
            told_of_folders(end, "mpirun failed", fmt::format("it ended with status {}", end.status),
                            "see above, and 'kasen doctor --only mpi'"),
            ExitStatus::internal};
  if (const int signal = killer_of(end); signal != 0) {
    const ExitStatus stopped = checkpoint.empty() ? ExitStatus::limit : ExitStatus::resumable;
    return {end.other, killed(signal, checkpoint), is_sent(signal) ? stopped : ExitStatus::internal};
  }
  return {
      end.other,
      told_of_folders(end, fmt::format("the job ended with status {}", end.status),
                      end.reported_by_mpirun ? "a rank died without a message" : "mpirun was killed without a message",
                      going_on(checkpoint)),
      std::nullopt};
}

}  // namespace kasen::tools
