// The search for a tiling of a program as a graph of choices (libopt/tiling/graph.h), whatever its costs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/layouts/cut_rules.h"
#include "libopt/tiling/graph.h"

namespace kasen {

class LayoutProblem {
 public:
  LayoutProblem() = default;
  LayoutProblem(const LayoutProblem&) = delete;
  LayoutProblem& operator=(const LayoutProblem&) = delete;
  virtual ~LayoutProblem() = default;

  // The program, with a mesh and all sizes.
  [[nodiscard]] virtual const Module& module() const = 0;
  [[nodiscard]] virtual const tiling::Graph& graph() const = 0;
  // The array of a variable; no_value for one that stands for something else.
  [[nodiscard]] virtual ValueId array(tiling::VariableId id) const = 0;
  // The cuts that a choice means.
  [[nodiscard]] virtual Cuts cuts(tiling::VariableId id, std::size_t choice) const = 0;
  // The number of the operator that a factor prices; -1 for copies that are kept.
  [[nodiscard]] virtual int op(std::size_t factor) const = 0;
  [[nodiscard]] virtual TilingDecisions decisions(const tiling::Assignment& choices) const = 0;
};

// The factor among these variables, where `price` gives the cost of an assignment; nothing if all are free.
template <class Price>
[[nodiscard]] std::optional<tiling::Factor> priced_factor(const tiling::Graph& graph,
                                                          std::vector<tiling::VariableId> among, const Price& price) {
  tiling::Assignment at;
  at.resize(graph.size(), 0);
  std::size_t entries = 1;
  for (const tiling::VariableId id : among) entries *= graph[id].choices.size();
  tiling::Factor factor{std::move(among), {}, false};
  for (std::size_t entry = 0; entry < entries; ++entry) {
    std::size_t rest = entry;
    for (auto id = factor.variables.rbegin(); id != factor.variables.rend(); ++id) {
      at[*id] = rest % graph[*id].choices.size();
      rest /= graph[*id].choices.size();
    }
    factor.costs.push_back(price(at));
  }
  const bool free = std::all_of(factor.costs.begin(), factor.costs.end(), [](double cost) { return cost == 0; });
  return free ? std::nullopt : std::optional(std::move(factor));
}

}  // namespace kasen
