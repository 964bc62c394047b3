// Arrays over the rows of a matrix and one local dimension, as vectors of small arrays: f64[N,K] as [f64; K][N]. So the
// loops of a row_chain take a row per lane, and values broadcast or reduced over K stay in the lane. Only kernels see
// it; the plan keeps its types.
#pragma once

#include <span>
#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

class ColumnLift {
 public:
  explicit ColumnLift(const Module& module) : plan_(module), module_(module) {}

  [[nodiscard]] const Module& plan() const { return plan_; }

  // The module with the types of lifted values, and functions for them behind its own.
  [[nodiscard]] const Module& module() const { return module_; }

  // The number of columns that the value had: 0 for an unchanged one.
  [[nodiscard]] std::int64_t columns(ValueId value) const;

  // Gives an array over [rows, K], or a shared over [K], its lifted type.
  void lift(ValueId value, DimId rows);
  // Vector work of a row_chain over `rows`, with lifted values. It leaves out the slices of arrays from `outside`,
  // which are read as such.
  [[nodiscard]] std::vector<Op> lift(std::span<const Op* const> work, DimId rows, const std::vector<ValueId>& outside);

 private:
  void map(Op& op);
  [[nodiscard]] Op slice(const Op& op);
  void reduce(const Op& op, std::vector<Op>& made);
  [[nodiscard]] FnId within(FnId reducer, const ElementType& element);
  [[nodiscard]] FnId across(FnId reducer, const ElementType& element);

  const Module& plan_;
  Module module_;
  IdMap<ValueId, std::int64_t> columns_;
};

}  // namespace kasen
