// What is known of the numbers that every value of a module holds: from literals, from what functions can give, and
// from the ranges that the program assumes of inputs and params. Loops are followed until nothing changes.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "libcore/ir/module.h"
#include "libcore/scalar/expression_range.h"

namespace kasen {

class ValueRanges {
 public:
  // The module's types are right (verify_module checks them first).
  explicit ValueRanges(const Module& module);

  // One interval for each place of the value's elements. A pre-reduced value's is that of the whole value, not of a
  // worker's contribution.
  [[nodiscard]] const ElementRange& of(ValueId value) const { return ranges_[static_cast<size_t>(value)]; }
  // Of the elements that a reduction, a product or a fold combines by its reducer, the reducer's identity left out:
  // what the same reducer has made holds it where nothing was combined.
  [[nodiscard]] ElementRange reached(const Op& op) const;
  // False for values that were added to the module later.
  [[nodiscard]] bool knows(ValueId value) const { return static_cast<size_t>(value) < ranges_.size(); }

 private:
  void block(const Block& b, int depth);
  void one(const Op& op, int depth);
  // The column `ranges` of operators.def. `depth`: loops around the operator.
  void assumed(const Op& op, int depth);
  void words(const Op& op, int depth);
  void natural(const Op& op, int depth);
  void elementwise(const Op& op, int depth);
  void reduced(const Op& op, int depth);
  void same(const Op& op, int depth);
  void joined(const Op& op, int depth);
  void loop(const Op& op, int depth);
  void branches(const Op& op, int depth);
  void nothing(const Op&, int) {}
  // The value holds what the operand holds, or some of it.
  void hands_on(ValueId value, ValueId operand);
  void set(ValueId value, ElementRange range) { ranges_[static_cast<size_t>(value)] = std::move(range); }

  struct Combined {  // what a reducer has made, its identity left out
    FnId reducer = no_fn;
    ElementRange range;
  };

  const Module& m_;
  std::vector<ElementRange> ranges_;
  std::map<ValueId, Combined> combined_;
  std::map<FnId, ElementRange> identities_;  // of reducers; empty if there is none
};

// The smallest range found that holds x and what the reducer makes of two of its elements.
[[nodiscard]] ElementRange closed_under(const ScalarFunction& reducer, ElementRange x);

// "parameter 'c' is -1.0, but the program assumes c > 0.0", or nothing if the numbers given for it are in its range.
[[nodiscard]] std::string range_fault(const Module& module, const Op& param, std::span<const Word> words);
void require_in_range(const Module& module, const Op& param, std::span<const Word> words);  // throws UserError(usage)

}  // namespace kasen
