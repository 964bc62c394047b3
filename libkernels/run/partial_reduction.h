// Reductions over some of an array's dimensions: many results, each with the order of kernel_set.h. Where the elements
// of a result lie at equal distances, generated code takes eight results side by side (regular_reduction.h). Elsewhere
// the reducer is the generated combine function: for runs of consecutive elements, this skeleton gives it the lane of
// each.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "libkernels/emit/kernel.h"

namespace kasen {

class Workshop;
struct PlanKernels;

// The elements of an index (of all indices, for an accumulator), as an array [outer, steps, inner] whose steps meet.
struct RegularSteps {
  std::int64_t outer = 1, steps = 1, inner = 1;
};

struct PartialReduction {
  FnId reducer = no_fn;
  ElementType element;
  std::vector<Word> identity;
  bool accumulates = false;         // results are accumulators that all indices add to; else each index has its own
  bool counts_reads = true;         // the operand is neither a shared nor compressed
  bool counts_writes = true;        // the result is no shared
  std::int64_t inner = 1;           // elements of an index
  std::int64_t results = 1;         // of an index
  std::int64_t steps = 1;           // elements of an index that meet in one result
  std::vector<std::int32_t> place;  // of each element of an index: its result,
  std::vector<std::int32_t> step;   // and its number among those of the result
  std::optional<RegularSteps> regular;
  bool any_blocks = false;  // blocks combine to the same bits from partial results: a plain sum, product, least or most
};

// The sizes of local dimensions must be known. UserError for a reducer without an identity.
[[nodiscard]] PartialReduction make_partial_reduction(const Module& module, const Op& op);

// Appends the words of an array whose element 0 is element `first` of the view.
void append_from(std::vector<std::int64_t>& words, const ElementType& element, const View& view, std::int64_t first);
// Elements first to first + count - 1 become the identity.
void fill_identity(const PartialReduction& reduction, const View& view, std::int64_t first, std::int64_t count);

void run_partial_reduction(Workshop& shop, const PlanKernels& plan, const PartialReduction& reduction, const View& from,
                           const View& to, Range range);

}  // namespace kasen
