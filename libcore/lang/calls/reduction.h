// Reductions: reduce(f, A), sum(v), dot(u, v), and aggregates that are built from them (aggregate.cpp).
#pragma once

#include <string>

#include "libcore/lang/calls/fold.h"

namespace kasen::lang {

class Reductions : Part {
 public:
  Reductions(const Part& part, Reducers& reducers, Folds& folds);

  // `over`: the dimensions that go; null: all of them. With keys, elements of one key are reduced to one.
  [[nodiscard]] Term reduce(const Node& fn, Term array, const Node* over, Mark mark, const std::string& hint);
  [[nodiscard]] Term dot(std::vector<Term> pair, Mark mark, const std::string& hint);

 private:
  [[nodiscard]] Term grouped(const Node& fn, Term array, const Node& over, Mark mark, const std::string& hint);
  [[nodiscard]] ValueId keys_of(const Node& over, DimId& into);
  [[nodiscard]] ValueId beside_keys(Term array, ValueId keys, Mark mark);
  [[nodiscard]] std::vector<DimId> replaced(ValueId walked, ValueId keys, const Node& over, Mark mark) const;
  [[nodiscard]] Term reduce_call(const Node& node, const std::string& hint);
  void refuse_truth(const Node& node) const;
  [[nodiscard]] Term named_call(const Node& node, const std::string& hint);  // sum, max, any, ...
  [[nodiscard]] Term dot_call(const Node& node, const std::string& hint);
  [[nodiscard]] Term mean(const Node& node);
  [[nodiscard]] Term sum_of_squares(const Node& node, const std::string& hint);
  [[nodiscard]] Term place(const Node& node);  // argmax, argmin
  [[nodiscard]] Term aggregated(const Node& node);
  [[nodiscard]] Term one_truth(Term term, Mark mark);
  [[nodiscard]] Term aggregated_numbers(const Node& node, const std::string& conversion);

  Reducers& reducers_;
  Folds& folds_;
};

}  // namespace kasen::lang
