// Candidate exploration: all valid partial fusion plans of a DAG (Boehm et al., section 3.2, Algorithm 1: OFMC).
#pragma once

#include "libopt/fusion/memo.h"

namespace kasen::fusion {

// Each of an operator's inputs is absorbed or not, in every combination. The paper's operators have at most three
// inputs, but a map of the IR may have many. Inputs that could be absorbed are read from memory after the sixth.
inline constexpr size_t most_choices = 6;

// Builds the memo table in one pass over the nodes: an operator's inputs come before it. It drops duplicates and closed
// entries that cover a single operator. It keeps dominated entries (without_dominated drops those).
[[nodiscard]] Memo explore(const Dag& dag);

}  // namespace kasen::fusion
