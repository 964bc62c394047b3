// Candidate exploration: all valid partial fusion plans of a DAG (Boehm et al., section 3.2, Algorithm 1: OFMC).
#pragma once

#include "libopt/fusion/memo.h"

namespace kasen::fusion {

// Inputs of one operator that are each taken up or not, in every combination. The paper's operators have at most three
// inputs; a map of the IR may have many: those behind the sixth that could be taken up are read from memory.
inline constexpr size_t most_choices = 6;

// The memo table, in one pass over the nodes: the inputs of an operator come before it. Duplicates and closed entries
// that cover a single operator are pruned; dominated ones are not (without_dominated).
[[nodiscard]] Memo explore(const Dag& dag);

}  // namespace kasen::fusion
