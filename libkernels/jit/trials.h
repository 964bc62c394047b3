// Trials of this processor: which of two ways of doing the same is faster. Results have the same bits.
#pragma once

#include "libcore/kernels/choices.h"

namespace kasen {

// The trials for a processor with vectors of 128, 256 or 512 bits. They take about 0.6 ms at the first call, and
// nothing later. Choices that show only with more data than the caches hold are not tried.
[[nodiscard]] const TrialTimes& trials_here(int vector_bits);

// Makes one trial: the least time of each way, in turn, so that another process disturbs both. `bits`: of the
// processor's vectors; `ways`: the choices made before.
[[nodiscard]] WayTimes try_choice(Choice choice, int bits, const Ways& ways);

}  // namespace kasen
