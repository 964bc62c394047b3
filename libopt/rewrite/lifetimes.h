// When the storage of each value is taken, on one line of time: operator n (preorder) reads at 2 n and writes at 2 n
// + 1. What a loop's body uses from outside is taken to the loop's end. Who uses what last, and which `get` is a view,
// is libcore/analysis/liveness.h's to say; may_reuse agrees with the verifier's rule for buffers.
#pragma once

#include <vector>

#include "libcore/analysis/liveness.h"
#include "libcore/ir/module.h"

namespace kasen {

class Lifetimes {
 public:
  Lifetimes(const Module& module, const Liveness& liveness);

  // Distributed dense arrays and lists of them, but for inputs, views and what stands inside regions (the product of a
  // product_epilogue alone is an owner): these get buffers.
  [[nodiscard]] const std::vector<ValueId>& owners() const { return owners_; }
  [[nodiscard]] bool owns(ValueId v) const { return owns_[static_cast<size_t>(v)]; }
  [[nodiscard]] int begin(ValueId v) const { return begin_[static_cast<size_t>(v)]; }
  // Both are needed at one time, or one is written while the other is read by an operator that may not do so in place.
  [[nodiscard]] bool interfere(ValueId a, ValueId b) const;

 private:
  void walk(const Block& block, int depth, const Op* region);
  void waiting_rows(const Op& region, int number);
  void define(ValueId v, int begin, int depth, const Op* maker, bool owner);
  void use(ValueId v, int number);
  [[nodiscard]] bool may_reuse(ValueId held, ValueId result) const;
  [[nodiscard]] bool may_write_over(const Op& op, ValueId operand, ValueId held, ValueId result) const;

  const Module& m_;
  const Liveness& live_;
  std::vector<ValueId> owners_;
  std::vector<bool> owns_;
  std::vector<int> begin_, end_, depth_;
  std::vector<const Op*> maker_;
  std::vector<int> open_;   // the operators that hold the block being walked, outermost first
  std::vector<int> close_;  // by operator: the number of the last operator inside it
  int next_ = 0;
};

}  // namespace kasen
