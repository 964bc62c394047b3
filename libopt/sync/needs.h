// Which slaves are demanded of each value, downstream through element-wise operators, carried values, branches and
// lists: where a value is made consistent at all, it is for this set (lazy and eager placement).
#pragma once

#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

class Needs {
 public:
  // In one space: what products of one block with one sparse matrix in one direction read, each of them needs of its
  // operand what any of them does, so that they may share a pass over its entries.
  explicit Needs(const Module& module, bool in_one_space = false);

  // The slaves that products need of the value itself or of values made from it element by element; empty for shareds.
  // A loop's result does not add to the need of its argument: what only the time after the loop asks for is brought
  // then, once, not in every turn.
  [[nodiscard]] const SlaveSet& of(ValueId value) const { return all_[static_cast<size_t>(value)]; }
  // Only those of the products that read this very value.
  [[nodiscard]] const SlaveSet& direct(ValueId value) const { return direct_[static_cast<size_t>(value)]; }
  friend bool operator==(const Needs&, const Needs&) = default;

 private:
  std::vector<SlaveSet> all_, direct_;
};

// The slaves that the product reads of its vector: those of the axis that its entries meet; all of one that it reads
// whole. Empty otherwise if the matrix is dense.
[[nodiscard]] SlaveSet product_reads(const Module& module, const Op& product);

}  // namespace kasen
