// What operators compute, beside what they touch: scalar operations by class (libcore/scalar/scalar_work.h) and a
// product's reads in the order of its entries, as polynomials. docs/cost.md, "Time", says what is counted.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "libcore/ir/module.h"
#include "libcore/scalar/scalar_work.h"
#include "libopt/cost/polynomial.h"
#include "libopt/cost/rules.h"

namespace kasen {

// Of one execution of one operator, over all workers.
struct Work {
  std::array<Polynomial, scalar_works> operations;  // by ScalarWork
  // A product's reads of its vectors (each scalar of an element), one for each stored entry, in the order of entries:
  // priced one by one, not by their bytes. `span`: bytes of the widest of those vectors, masters and slaves.
  Polynomial entries, entry_bytes, span;

  Work& operator+=(const Work& other);
  [[nodiscard]] bool is_zero() const;
  friend bool operator==(const Work&, const Work&) = default;
};

[[nodiscard]] Work work_of(const CostContext& context, const Op& op);

using OperationCounts = std::array<std::int64_t, scalar_works>;
// Operations that one application takes, of those that depend on a parameter which `varies` from element to element:
// what the others give is computed once for all. Each distinct subexpression counts once; in a loop over coordinates
// for each turn of the loops on whose variables it depends.
[[nodiscard]] OperationCounts operations_of(const ScalarFunction& fn, const std::vector<bool>& varies);

}  // namespace kasen
