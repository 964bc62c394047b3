// Placements side by side, for people and for other programs: what they load nodes with, how far they are from the best
// one and from the lower bound, and how loads grow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libopt/spread/search.h"

namespace kasen::spread {

struct Comparison {
  std::string title;  // what is placed
  const Graph* graph = nullptr;
  Cluster cluster;
  std::int64_t element_bytes = 8;
  std::vector<Proven> found;      // at least one; the best of them is what regrets compare with
  std::size_t most_points = 200;  // of each curve
};

// All searches by name; `all` stands for those that are small enough. Throws as find_placement.
[[nodiscard]] Comparison compare(std::string title, const Graph& graph, const Cluster& cluster,
                                 const std::vector<std::string>& searches, const SearchOptions& options);

[[nodiscard]] std::string comparison_text(const Comparison& comparison);
// With the curves and, of each placement, all steps with their workers and copies.
[[nodiscard]] std::string comparison_json(const Comparison& comparison);
// A row for each search, step and node: memory, in and out behind the step, in elements.
[[nodiscard]] std::string curves_csv(const Comparison& comparison);

// Objective over the best one, and over the lower bound.
[[nodiscard]] double regret(const Comparison& comparison, std::size_t found);
[[nodiscard]] double over_bound(const Comparison& comparison, std::size_t found);

// The loads behind steps: the first one, and so many at most, of which the last stands behind all.
struct Point {
  std::size_t steps = 0;  // placed
  Loads loads;
};
[[nodiscard]] std::vector<Point> curve(const Graph& graph, const Cluster& cluster, const Plan& plan, std::size_t most);

}  // namespace kasen::spread
