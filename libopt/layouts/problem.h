// The search for a tiling of a program as a graph of choices (libopt/tiling/graph.h), whatever its costs.
#pragma once

#include <cstddef>

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

}  // namespace kasen
