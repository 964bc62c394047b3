// kasen-run -n R: starts mpirun with this tool's own ranks, draws their progress, and passes on one clear message when
// a rank fails.
#pragma once

#include <string>
#include <vector>

#include "libcore/base/error.h"
#include "tools/launch/options.h"

namespace kasen::tools {

// Lines that rank 0 or a failing rank sends to the launcher through standard error; other text is mpirun's own.
inline constexpr char progress_mark = '\x01';
inline constexpr char error_mark = '\x02';
inline constexpr char summary_mark = '\x03';
inline constexpr char line_break_mark = '\x04';  // stands for a line end within one message
inline constexpr char stopped_mark = '\x05';     // the job saved what it has and ends, as it was asked
inline constexpr char watched_mark = '\x07';     // the ranks watch each other from now on (run/watch.h)
inline constexpr char begun_mark = '\x08';       // a rank began: mpirun has started it
inline constexpr char ready_mark = '\x06';       // every rank hears requests to save and to end (signals.h)

// `arguments`: the command line without the program's name. Returns the job's exit status.
// mpirun hands a plan from standard input to rank 0, which gives it to the others.
[[nodiscard]] int launch_ranks(const RunSettings& settings, const std::vector<std::string>& arguments);

}  // namespace kasen::tools
