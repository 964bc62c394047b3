// Searches for the cheapest assignment of a tiling graph. All are deterministic: they end by counts, never by time.
#pragma once

#include <cstdint>

#include "libopt/tiling/graph.h"

namespace kasen::tiling {

struct Limits {
  double memory = forbidden;            // the budget for copies, in the units of Choice::memory
  std::size_t table_entries = 1 << 20;  // the most of one table of the elimination
  std::uint64_t nodes = 1 << 16;        // of the branch and bound
};

// Elimination of variables, least table first; with a budget, entries are Pareto points of cost and memory. Where a
// table would have too many entries: branch and bound by mini-buckets, from the greedy solution with local improvement.
[[nodiscard]] Solution exact(const Graph& graph, const Limits& limits = {});

// Maximum connectivity first (the paper's Figure 8). Where that ends in what is forbidden, it is the allowed assignment
// that differs in the fewest variables; so for in_order. Its bound is 0.
[[nodiscard]] Solution greedy(const Graph& graph, const Limits& limits = {});

// Variables in their order, each the choice that costs least beside those before it. Its bound is 0.
[[nodiscard]] Solution in_order(const Graph& graph, const Limits& limits = {});

// The dearest assignment that is not forbidden. Its bound is 0.
[[nodiscard]] Solution worst(const Graph& graph, const Limits& limits = {});

// Improves a solution one variable, then one pair of neighbours, at a time, until none helps. Its bound stays.
[[nodiscard]] Solution improved(const Graph& graph, Solution from, const Limits& limits = {});

}  // namespace kasen::tiling
