// Bytes that travel when arrays get other owners or more holders, over all workers, as the cost model's actual column
// counts them (libopt/cost/box_cost.h).
#pragma once

#include <cstddef>
#include <map>
#include <tuple>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/layouts/cut_rules.h"

namespace kasen {

class Moves {
 public:
  // `sized`: it has a mesh, and all sizes. It stays.
  explicit Moves(const Module& sized) : m_(sized) {}

  [[nodiscard]] double array(const Type& type) const;  // bytes of it once
  // From one cut to another one: all but what stays (rule 16).
  [[nodiscard]] double relayout(const Type& type, const Cuts& from, const Cuts& to);
  // Likewise of one operand of a slice, concatenation or reshape, whose elements go straight to the owners of the
  // result.
  [[nodiscard]] double rearranged(const Op& op, std::size_t operand, const Cuts& from, const Cuts& to);
  // The elements of a sort across workers, in the mean of all their orders, and what its workers agree with.
  [[nodiscard]] double sorted(const Op& op);
  // What a scan carries from each worker along these axes of the mesh to the next: an element of each line.
  [[nodiscard]] double carried(const Op& scan, MeshAxes axes) const;
  // To all others along these axes of the mesh, or from all of them.
  [[nodiscard]] double along(const Type& type, MeshAxes axes) const;

 private:
  [[nodiscard]] double overlap(DimId dim, AxisCut from, AxisCut to, int worker);
  [[nodiscard]] double staying(const Type& from, const Type& to);

  const Module& m_;
  std::map<std::tuple<std::vector<DimId>, Cuts, Cuts>, double> stay_;          // elements
  std::map<std::tuple<ValueId, std::size_t, Cuts, Cuts>, double> rearranged_;  // bytes, by result and operand
  std::map<std::tuple<DimId, AxisCut, AxisCut, int>, double> overlap_;         // indices
  std::map<std::pair<ValueId, Cuts>, double> sorted_;                          // bytes, by result
};

}  // namespace kasen
