// The times at which the storage of each value is taken, on one line: operator n (preorder) reads at 2 n and writes at
// 2 n + 1. A value from outside that a loop's body uses is taken to the loop's end. libcore/analysis/liveness.h decides
// last uses, and which `get` is a view. may_reuse agrees with the verifier's rule for buffers.
#pragma once

#include <vector>

#include "libcore/analysis/liveness.h"
#include "libcore/analysis/shared_batch.h"
#include "libcore/ir/module.h"

namespace kasen {

class Lifetimes {
 public:
  Lifetimes(const Module& module, const Liveness& liveness);

  // Returns the values that get buffers: dense arrays and lists of them. Inputs, views and values inside
  // regions do not (except the product of a product_epilogue).
  [[nodiscard]] const std::vector<ValueId>& owners() const { return owners_; }
  [[nodiscard]] bool owns(ValueId v) const { return owns_[static_cast<size_t>(v)]; }
  [[nodiscard]] int begin(ValueId v) const { return begin_[static_cast<size_t>(v)]; }
  [[nodiscard]] int end(ValueId v) const { return end_[static_cast<size_t>(v)]; }
  // Returns true if both are needed at one time, or if an operator writes one, reads the other and may not work in
  // place.
  [[nodiscard]] bool interfere(ValueId a, ValueId b) const;

 private:
  void walk(const Block& block, int depth, const Op* region);
  void waiting_rows(const Op& region, int number);
  void batch(const Op& op, int number);
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
  std::vector<int> open_;   // the operators around the current block, outermost first
  std::vector<int> close_;  // by operator: the number of the last operator inside it
  int next_ = 0;
  SharedBatches batches_;
  int batch_ends_ = -1;  // the number of the last operator of the latest batch
};

}  // namespace kasen
