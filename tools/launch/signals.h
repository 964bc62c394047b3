// Signals that ask a run to save what it has and to end: USR1 and TERM.
#pragma once

namespace kasen::tools {

// From here on, a first request is remembered (stop_request.h). A second one, or the end of the process that started
// this one, ends the run at once.
void remember_stop_signals();
[[nodiscard]] bool stop_signal_came();

}  // namespace kasen::tools
