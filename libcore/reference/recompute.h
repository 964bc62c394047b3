// Compares the outputs of a run with those of the plain interpreter for the same program and data.
//
// Integers, bools and ids are equal or wrong. Floating-point numbers may differ by their relative tolerance, since sums
// run in another order and functions come from other libraries. NaN equals NaN. Some numbers depend more on rounding
// than that (differences of nearly equal numbers, loops that amplify). Other interpretations show by how much: they add
// in other orders and have functions like exp wrong in their last bits. A run may differ by as much.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libcore/data/run_result.h"
#include "libcore/ir/module.h"
#include "libcore/reference/interpret_options.h"

namespace kasen {

// Beyond this relative difference (of f64, f32) a number is wrong, unless rounding explains it.
[[nodiscard]] double tolerance_of(Scalar scalar);

// An element (o, index, i) of the whole array is number (o * extent + index) * inner + i. On a worker, an element of
// its owned index m is number (m * outer + o) * inner + i. A shared is one index with all of its elements.
struct OutputShape {
  std::int64_t outer = 1, extent = 1, inner = 1;
  bool shared = false;
};
[[nodiscard]] OutputShape shape_of(const Module& module, const Type& type,
                                   const std::map<std::string, std::int64_t>& sizes);

// A comparison of the elements at an owned index of a part with those at an index of the recomputed array.
struct ComparedIndex {
  std::size_t part = 0;
  std::int64_t master = 0, global = 0;
  std::int64_t wanted = 0;
};

struct ElementDifference {
  std::int64_t place = 0;  // in the whole array, row-major
  std::int64_t plane = 0;
  Word made{}, wanted{};
};

struct OutputComparison {
  std::int64_t elements = 0;               // compared
  std::int64_t differing = 0;              // of these
  double largest = 0;                      // relative difference of floating-point numbers, of those that do not differ
  std::optional<ElementDifference> first;  // by position
  void merge(const OutputComparison& other);
};

// The absolute difference that rounding can make in an output, by plane of its elements; any, for exact numbers.
struct RoundingSlack {
  std::vector<double> by_plane;   // empty: none
  std::vector<double> magnitude;  // the largest number
  void merge(const RoundingSlack& other);
  // True if it hides all but the first digits.
  [[nodiscard]] bool is_coarse(const ElementType& element) const;
};
[[nodiscard]] RoundingSlack slack_between(const Array& one, const Array& other);

// `wanted` is over `wanted_extent` indices in place of the shape's. Copies of a shared count once, that of worker 0.
[[nodiscard]] OutputComparison compare_output(const Output& made, const OutputShape& shape, const Array& wanted,
                                              std::int64_t wanted_extent, const std::vector<ComparedIndex>& indices,
                                              const RoundingSlack& slack);

// The module that interpretation `number` (from 1 on) runs, with InterpretOptions::order `number`.
[[nodiscard]] Module with_other_rounding(const Module& module, int number);

}  // namespace kasen
