// All kinds of graphs that `kasen generate` and experiments make. Each is a function of its options alone, whatever the
// threads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "datasets/edge_runs.h"

namespace kasen {

struct GraphOptions {
  int scale = 16;                       // 2^scale vertices
  std::optional<std::int64_t> edges{};  // none: 16 a vertex
  std::uint64_t seed = 1;
  double a = 0.57, b = 0.19, c = 0.19;  // rmat
  double rewired = 0.1;                 // small-world
  double leaving = 0.2;                 // communities
};

struct GraphKind {
  std::string_view name;
  bool drawn;  // by chance: a seed and a number of edges make a difference
  int least_scale;
  EdgeRuns (*make)(const GraphOptions& options);  // UserError: those of its header
};

[[nodiscard]] std::span<const GraphKind> graph_kinds();
[[nodiscard]] const GraphKind* find_graph_kind(std::string_view name);  // null: there is none
[[nodiscard]] std::string graph_kind_names();                           // "rmat, uniform and star"

}  // namespace kasen
