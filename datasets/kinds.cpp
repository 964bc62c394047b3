#include "datasets/kinds.h"

#include <algorithm>
#include <array>

#include "datasets/communities.h"
#include "datasets/rmat.h"
#include "datasets/shapes.h"
#include "datasets/small_world.h"

namespace kasen {
namespace {

// A scale that no graph has is refused by the kind; it makes no number of edges here.
std::int64_t edges_of(const GraphOptions& o) {
  return o.edges.value_or(o.scale < 0 || o.scale > 31 ? 0 : 16 * (std::int64_t{1} << o.scale));
}

EdgeRuns rmat(const GraphOptions& o) {
  return rmat_edges({.scale = o.scale, .edges = edges_of(o), .seed = o.seed, .a = o.a, .b = o.b, .c = o.c});
}

EdgeRuns uniform(const GraphOptions& o) {  // all quadrants alike
  return rmat_edges({.scale = o.scale, .edges = edges_of(o), .seed = o.seed, .a = 0.25, .b = 0.25, .c = 0.25});
}

EdgeRuns small_world(const GraphOptions& o) {
  return small_world_edges({.scale = o.scale, .edges = edges_of(o), .seed = o.seed, .rewired = o.rewired});
}

EdgeRuns communities(const GraphOptions& o) {
  return community_edges({.scale = o.scale, .edges = edges_of(o), .seed = o.seed, .leaving = o.leaving});
}

EdgeRuns grid(const GraphOptions& o) { return grid_edges(o.scale); }
EdgeRuns star(const GraphOptions& o) { return star_edges(o.scale); }

// clang-format off
constexpr std::array kinds{
    GraphKind{"rmat",        true,  1, rmat},
    GraphKind{"uniform",     true,  1, uniform},
    GraphKind{"small-world", true,  2, small_world},
    GraphKind{"communities", true,  1, communities},
    GraphKind{"grid",        false, 1, grid},
    GraphKind{"star",        false, 0, star},
};
// clang-format on

}  // namespace

std::span<const GraphKind> graph_kinds() { return kinds; }

const GraphKind* find_graph_kind(std::string_view name) {
  const auto* found =
      std::find_if(kinds.begin(), kinds.end(), [&](const GraphKind& kind) { return kind.name == name; });
  return found == kinds.end() ? nullptr : &*found;
}

std::string graph_kind_names() {
  std::string names;
  for (const GraphKind& kind : kinds) {
    if (!names.empty()) names += &kind == &kinds.back() ? " and " : ", ";
    names += kind.name;
  }
  return names;
}

}  // namespace kasen
