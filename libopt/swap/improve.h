// Makes plans better by one small change after another, behind a search that found good ones: a task runs earlier or
// later, a class has other objects or sizes, another tensor leaves or another place is taken. A change stays if the
// plan takes no longer than the one of some changes ago (late acceptance: Burke and Bykov, 2017), so that it also goes
// on over small hills. It is seeded, ends by counts, and gives equal results with any number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "libopt/swap/search.h"

namespace kasen::swap {

struct ImproveOptions {
  std::int64_t evaluations = 20'000;  // swap plans that are made, at most
  int walks = 4;                      // from the best plans, side by side
};

// Of `options` it takes all but what steers the genetic search. `from` are plans that can run, the best first.
[[nodiscard]] Found improve(const TaskGraph& graph, const SearchOptions& options, const std::vector<Individual>& from,
                            const ImproveOptions& steps);

}  // namespace kasen::swap
