// Arrows of a trace lead from the event in which a rank sends a message to that in which another has received it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "libcore/transport/transport.h"
#include "tools/run/trace.h"

namespace kasen::tools {

// A rank's plan runs in one thread; the work of its kernels' threads is part of a step.
inline constexpr int trace_steps_thread = 1;
// The unit of the format.
[[nodiscard]] std::string microseconds(std::int64_t nanoseconds);

// `inner`, which reports every message to and from another rank to the trace; the trace outlives it.
[[nodiscard]] std::unique_ptr<Transport> make_traced_transport(std::unique_ptr<Transport> inner, int ranks,
                                                               Trace& trace);

// The bytes in which arrows go to rank 0.
[[nodiscard]] std::string arrow_bytes(const std::vector<Trace::Arrow>& arrows);
// The events of arrows that have both ends, from every rank's bytes: each with ",\n" before it.
[[nodiscard]] std::string arrows_text(const std::vector<std::string>& ranks);

}  // namespace kasen::tools
