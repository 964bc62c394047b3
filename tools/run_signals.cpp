#include "tools/run_signals.h"

#include <unistd.h>

#include <csignal>

#include "libcore/error.h"
#include "libcore/temporaries.h"

namespace kasen::tools {
namespace {

volatile std::sig_atomic_t came = 0;
pid_t starter = 0;

// TERM also comes when the process that started this one is gone (PR_SET_PDEATHSIG): nobody is left to save with.
void on_stop(int /*number*/) {
  if (came != 0 || getppid() != starter) {
    remove_temporaries();
    _exit(static_cast<int>(ExitStatus::interrupted));
  }
  came = 1;
}

}  // namespace

void remember_stop_signals() {
  starter = getppid();
  struct sigaction action {};
  action.sa_handler = on_stop;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool stop_signal_came() { return came != 0; }

}  // namespace kasen::tools
