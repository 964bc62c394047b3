#include "tools/system/ended.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

namespace kasen::tools {
namespace {

struct SignalRow {
  int number;
  ExitStatus status;
  const char *why, *remedy;
};

constexpr const char* asked = "somebody or the batch system ended it";
constexpr const char* again = "start it again";
constexpr const char* report = "please report it with this command line";

constexpr std::array<SignalRow, 9> rows{{
    {SIGKILL, ExitStatus::limit, "the system ends programs so where memory runs out; so do batch systems and people",
     "see 'dmesg' or the job's log; use a machine with more memory, more workers on more nodes, or a smaller input"},
    {SIGXCPU, ExitStatus::limit, "it has used the processor time that the shell or the job allows",
     "see 'ulimit -t' or the job's limits"},
    {SIGTERM, ExitStatus::interrupted, asked, again},
    {SIGINT, ExitStatus::interrupted, asked, again},
    {SIGHUP, ExitStatus::interrupted, asked, again},
    {SIGQUIT, ExitStatus::interrupted, asked, again},
    {SIGBUS, ExitStatus::io, "a file that it had mapped was cut short meanwhile, or a disk or memory failed",
     "see that nobody writes the data; 'dmesg' reports failures of disks"},
    {SIGILL, ExitStatus::internal, "this processor lacks an instruction: Kasen was built for another one, or has a bug",
     "build it on this machine (scripts/setup), or report it with this command line"},
    {SIGSYS, ExitStatus::internal, "the system forbids one of its calls", report},
}};

constexpr SignalRow others{0, ExitStatus::internal, "this is a bug of Kasen", report};

}  // namespace

UserError ended_by_signal(const std::string& program, const Ended& ended) {
  const auto* found =
      std::find_if(rows.begin(), rows.end(), [&](const SignalRow& row) { return row.number == ended.signal; });
  const SignalRow& row = found == rows.end() ? others : *found;
  const char* name = sigabbrev_np(ended.signal);
  Diagnostic reported;
  reported.what = fmt::format("{} was ended by signal {}{}", program, ended.signal,
                              name != nullptr ? fmt::format(" (SIG{})", name) : std::string());
  reported.why = row.why;
  constexpr double mebibyte = 1 << 20;
  if (row.status == ExitStatus::limit && ended.peak_bytes > 0)
    reported.why += fmt::format("; it held at most {:.0f} MiB", static_cast<double>(ended.peak_bytes) / mebibyte);
  reported.remedy = row.remedy;
  return {row.status, std::move(reported)};
}

}  // namespace kasen::tools
