// A swap plan for people and for other programs: a table, JSON, and a picture of its streams over time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libopt/swap/search.h"

namespace kasen::swap {

// Another way to run the graph, by its name.
struct Rival {
  std::string name;
  double seconds = 0;  // infinite: it does not run
  std::int64_t bytes_in = 0, bytes_out = 0;
};

[[nodiscard]] std::string report_text(const TaskGraph& graph, const SearchOptions& options, const Found& found,
                                      const std::vector<Rival>& rivals);
// The order, the allocation, and each move with what it waits for and its time (docs/swap.md has the keys).
[[nodiscard]] std::string report_json(const TaskGraph& graph, const SearchOptions& options, const Found& found,
                                      const std::vector<Rival>& rivals);
// Moves in, tasks and moves out over time, and the bytes held.
[[nodiscard]] std::string timeline_svg(const TaskGraph& graph, const SearchOptions& options, const Found& found);

}  // namespace kasen::swap
