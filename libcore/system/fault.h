// Faults on purpose (docs/faults.md): the N-th time that a process comes to a point, what it does there fails. Always
// compiled in; where nothing is asked for, a point costs a look at one flag.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace kasen {

// Where a fault may strike: calls of the system on files that Kasen reads or makes (libcore/system/file_calls.h),
// memory of arrays, the end of a turn of an outermost loop, a worker's share of an output when it is computed, a
// message that arrived from another rank.
enum class FaultPoint { open, create, read, write, sync, rename, allocate, border, output, message };

// POINT:ACTION:N[+][@rank=R][@tool=NAME], several with commas between them; none ends those asked for before. `tool`
// and `rank` are this process's own. UserError(configuration) where the text is wrong.
void ask_for_faults(std::string_view text, std::string_view tool, int rank);

namespace faults {
inline std::atomic<bool> any{false};
std::int64_t passed(FaultPoint point, std::int64_t bytes);
}  // namespace faults

// Comes to a point with `bytes` to be moved. How many of them may be: all, or fewer; below 0, with errno set, where the
// call fails (at an output or a message: where a bit of it is to be another).
[[nodiscard]] inline std::int64_t pass_point(FaultPoint point, std::int64_t bytes = 0) {
  return faults::any.load(std::memory_order_relaxed) ? faults::passed(point, bytes) : bytes;
}

}  // namespace kasen
