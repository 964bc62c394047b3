// The ghosts that are needed of each value, downstream through element-wise operators, carried values, branches and
// lists. A value that is made consistent is made so for this set (lazy and eager placement).
#pragma once

#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

class Needs {
 public:
  // With `in_one_space`, each operand of the products of one block with one sparse matrix in one direction gets the
  // needs of all of them. So they may share a pass over its nonzeros.
  explicit Needs(const Module& module, bool in_one_space = false);

  // Returns the ghosts that products need of the value itself, or of values made from it element by element; empty for
  // shareds. A loop's result does not add to the need of its argument. A need that arises only after the loop is met
  // then, once, not in every iteration.
  [[nodiscard]] const SlaveSet& of(ValueId value) const { return all_[value]; }
  // Returns only the needs of the products that read this very value.
  [[nodiscard]] const SlaveSet& direct(ValueId value) const { return direct_[value]; }
  friend bool operator==(const Needs&, const Needs&) = default;

 private:
  IdMap<ValueId, SlaveSet> all_, direct_;
};

// Returns the ghosts that the product reads of its vector: those of the axis that its nonzeros meet. If it reads the
// vector whole, these are all ghosts. Otherwise the set is empty for a dense matrix.
[[nodiscard]] SlaveSet product_reads(const Module& module, const Op& product);

}  // namespace kasen
