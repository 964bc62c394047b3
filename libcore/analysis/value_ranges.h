// The known ranges of the numbers that every value of a module holds. They follow from literals, from the results of
// functions, and from ranges that the program assumes for inputs and params. Loops are followed until nothing changes.
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
  // Expects a module whose types are right (verify_module checks them first).
  explicit ValueRanges(const Module& module);

  // One interval for each place of the value's elements. For a pre-reduced value it covers the whole value, not a
  // worker's contribution.
  [[nodiscard]] const ElementRange& of(ValueId value) const { return ranges_[value]; }
  // The range of the elements that a reduction, a product or a fold combines by its reducer, without the reducer's
  // identity. Results of the same reducer hold the identity where nothing was combined.
  [[nodiscard]] ElementRange reached(const Op& op) const;
  // False for values that were added to the module later.
  [[nodiscard]] bool knows(ValueId value) const { return ranges_.contains(value); }

 private:
  void block(const Block& b, int depth);
  void one(const Op& op, int depth);
  // The methods of column `ranges` of operators.def. `depth`: the number of loops around the operator.
  void assumed(const Op& op, int depth);
  void words(const Op& op, int depth);
  void natural(const Op& op, int depth);
  void elementwise(const Op& op, int depth);
  void reduced(const Op& op, int depth);
  void contracted(const Op& op, int depth);
  void same(const Op& op, int depth);
  void joined(const Op& op, int depth);
  void all_joined(const Op& op, int depth);
  void loop(const Op& op, int depth);
  void branches(const Op& op, int depth);
  void nothing(const Op&, int) {}
  // The value holds all or some of the operand's numbers.
  void hands_on(ValueId value, ValueId operand);
  void set(ValueId value, ElementRange range) { ranges_[value] = std::move(range); }

  struct Combined {  // results of a reducer, without its identity
    FnId reducer = no_fn;
    ElementRange range;
  };

  const Module& m_;
  IdMap<ValueId, ElementRange> ranges_;
  std::map<ValueId, Combined> combined_;
  std::map<FnId, ElementRange> identities_;  // of reducers; empty if there is none
};

// The smallest range found that holds x and the reducer's results for any two elements of it.
[[nodiscard]] ElementRange closed_under(const ScalarFunction& reducer, ElementRange x);

// "parameter 'c' is -1.0, but the program assumes c > 0.0", or nothing if the numbers given for it are in its range.
[[nodiscard]] std::string range_fault(const Module& module, const Op& param, std::span<const Word> words);
void require_in_range(const Module& module, const Op& param, std::span<const Word> words);  // throws UserError(usage)

}  // namespace kasen
