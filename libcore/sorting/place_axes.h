/// \file
/// Axes that count places in an order. Element i of a sorted array is the i-th smallest one, and has nothing to do with
/// index i of its dimension. So are the axes of eigenvalues and singular values, and the last ones of their vectors.
/// The names of indices (words, the user's ids, names of columns) do not hold there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "libcore/ir/module.h"

namespace kasen {

/// Of a module at any level, which must stay. An axis counts places if one does from which its elements come, through
/// loops, branches and regions, too. Axes of operands and results belong together by their dimensions. The places of
/// elements in an order, `argsort(argsort(x))`, have the indices of x again.
class PlaceAxes {
 public:
  explicit PlaceAxes(const Module& module);
  /// Axis `axis` of the value, from 0.
  [[nodiscard]] bool counts_places(ValueId value, std::size_t axis) const;

 private:
  using Axes = std::uint64_t;  // a bit for each; more axes than bits have names

  void look_at(const Block& block);
  void look_at(const Op& op);
  void look_at_blocks(const Op& op);
  void look_at_ordered(const Op& op);
  void look_at_elements(const Op& op);
  void join(ValueId from, ValueId to);
  void add(ValueId value, Axes axes);
  [[nodiscard]] bool comes_from_places(const Op& op, ValueId result, std::size_t axis) const;

  const Module& module_;
  IdMap<ValueId, Axes> axes_;
  IdMap<ValueId, const Op*> makers_;  // null: an argument of a block
  bool changed_ = false;
};

}  // namespace kasen
