// The user's assumptions: laws of functions, and the numbers of inputs and params.
#pragma once

#include "libcore/lang/calls/reducer.h"

namespace kasen::lang {

class Assumptions : Part {
 public:
  Assumptions(const Part& part, Reducers& reducers) : Part(part), reducers_(reducers) {}

  // Once all functions have been used.
  void add(const Statement& s);

 private:
  void law(const Statement& s);
  void range(const Node& node);
  [[nodiscard]] Interval compared_range(const Node& node, bool turned);
  [[nodiscard]] const Op* source_named(const Node& side) const;
  [[nodiscard]] int assumed_place(const Node& side, const Op& op);
  void require_numbers(const Op& op, int place, Mark mark) const;
  [[nodiscard]] LawKind law_kind(const Statement& s) const;

  Reducers& reducers_;
};

}  // namespace kasen::lang
