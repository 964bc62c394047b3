#include "tools/launch/signals.h"

#include <unistd.h>

#include <csignal>

#include "libcore/base/error.h"
#include "libcore/system/temporaries.h"
#include "tools/system/stop_request.h"

namespace kasen::tools {
namespace {

StopRequest request;
pid_t starter = 0;

// TERM also comes when the process that started this one is gone (PR_SET_PDEATHSIG): then nobody is left to save with.
void on_stop(int number) {
  if (request.note(number) != StopRequest::Signal::again && getppid() == starter) return;
  remove_temporaries();
  _exit(static_cast<int>(ExitStatus::interrupted));
}

}  // namespace

void remember_stop_signals() {
  starter = getppid();
  struct sigaction action {};
  action.sa_handler = on_stop;
  action.sa_flags = SA_RESTART;
  for (const int number : stop_signals) sigaction(number, &action, nullptr);
}

bool stop_signal_came() { return request.came(); }

}  // namespace kasen::tools
