// The computing of operators, beside their traffic: scalar operations by class (libcore/scalar/scalar_work.h) and a
// product's reads in the order of its nonzeros, as polynomials. Section "Time" of docs/cost.md states what is counted.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "libcore/ir/module.h"
#include "libcore/scalar/scalar_work.h"
#include "libopt/cost/polynomial.h"
#include "libopt/cost/rules.h"

namespace kasen {

// The work of one execution of one operator, over all workers.
struct Work {
  std::array<Polynomial, scalar_works> operations;  // by ScalarWork
  // A product's reads of its vectors (each scalar of an element), one for each nonzero, in the order of the nonzeros.
  // They are priced one by one, not by their bytes. `span` is the number of bytes of the widest of those vectors, owned
  // elements and ghosts.
  Polynomial entries, entry_bytes, span;
  std::optional<SlaveAtom> reads;  // the matrix's axis whose vector that is (reach.h)

  Work& operator+=(const Work& other);
  [[nodiscard]] bool is_zero() const;
  friend bool operator==(const Work&, const Work&) = default;
};

[[nodiscard]] Work work_of(const CostContext& context, const Op& op);
// The same in a region of rows, where products with a sparse matrix go row by row.
[[nodiscard]] Work work_in_rows(const CostContext& context, const Op& op);

using OperationCounts = std::array<std::int64_t, scalar_works>;
// Counts the operations of one application that depend on a parameter that `varies` from element to element: the
// results of the others are computed once for all. Each distinct subexpression counts once. In a loop over coordinates
// it counts once for each iteration of the loops on whose variables it depends.
[[nodiscard]] OperationCounts operations_of(const ScalarFunction& fn, const std::vector<bool>& varies);

}  // namespace kasen
