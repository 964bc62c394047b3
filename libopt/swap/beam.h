// A beam search for an order, beside the genetic search (search.h) and with the same planner inside: what a wider look
// at the next operators finds, without crossing. It is not of Huang's thesis. It has no random numbers, ends by counts,
// and gives equal results with any number of threads.
#pragma once

#include <cstdint>

#include "libopt/swap/search.h"

namespace kasen::swap {

struct BeamOptions {
  int width = 4;                    // orders that are followed side by side
  std::int64_t evaluations = 4000;  // swap plans that are made, at most; the first ones are made in any case
};

// Of `options` it takes all but what steers the genetic search. The course has an element for each step. Throws
// UserError(limit) with the least capacity if no allocation fits.
[[nodiscard]] Found beam(const TaskGraph& graph, const SearchOptions& options, const BeamOptions& beam);

}  // namespace kasen::swap
