// Fault injection (docs/faults.md): the N-th time that a process comes to a point, its action there fails. It is always
// compiled in. Without a request, a point costs a look at one flag.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace kasen {

// The points where a fault may strike: system calls on files that Kasen reads or makes (libcore/system/file_calls.h),
// and the memory of arrays. Others are the borders of a run (libcore/run/border.h), a worker's share of an output when
// it is computed, and a message that arrived from another rank.
enum class FaultPoint { open, create, read, write, sync, rename, allocate, border, output, message };

// Sets the faults to POINT:ACTION:N[+][@rank=R][@tool=NAME], several separated by commas; an empty text removes them.
// `tool` and `rank` are this process's own. UserError(configuration) if the text is wrong.
void ask_for_faults(std::string_view text, std::string_view tool, int rank);

namespace faults {
inline std::atomic<bool> any{false};
std::int64_t passed(FaultPoint point, std::int64_t bytes);
}  // namespace faults

// Comes to a point with `bytes` to be moved. Returns how many of them may be moved: all, or fewer. A negative result,
// with errno set, means that the call fails (at an output or a message: that one bit of it flips).
[[nodiscard]] inline std::int64_t pass_point(FaultPoint point, std::int64_t bytes = 0) {
  return faults::any.load(std::memory_order_relaxed) ? faults::passed(point, bytes) : bytes;
}

}  // namespace kasen
