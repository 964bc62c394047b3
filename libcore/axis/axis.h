/// \file
/// Operators along one axis (group `axis`, libcore/ir/axis_ops.h) on one worker: which elements form a line in memory,
/// and all but scan as plain loops. A scan applies a function of the program, so kernel sets run it.
///
/// The order of sort is total: negative numbers, -0, 0, positive numbers, then NaN, all of which are equal. argsort
/// keeps the order of equal elements. So take(x, argsort(x)) has the bits of sort(x), except a NaN's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "libcore/data/mirrored.h"
#include "libcore/ir/module.h"
#include "libcore/stream/row_gate.h"

namespace kasen {

/// Arrays are in memory as their kernel form says: the cut dimension first, with `indices` local indices, then all
/// others in order. Element (o, k, i) of lines is o * length * inner + k * inner + i.
struct AxisCall {
  const Op* op = nullptr;
  const Module* module = nullptr;  ///< with sizes
  std::span<const View> inputs;    ///< the op's operands
  View output;
  std::int64_t indices = 1;  ///< of the cut dimension; 1 for shareds
  /// Of a reduce_by whose operands are not in memory as a whole: the walk takes `at_once` indices at a time. Not owned.
  RowGate* gate = nullptr;
  std::int64_t at_once = 1;
};

struct AxisLines {
  std::int64_t outer = 1, length = 1, inner = 1;
  [[nodiscard]] std::int64_t lines() const { return outer * inner; }
};
/// Of operands[0].
[[nodiscard]] AxisLines lines_of(const AxisCall& call);

/// The number of independent pieces of work of sort, argsort, take, slice, concat, reshape or pick.
/// UserError (bad_input) for a mask of a pick that is true at another number of indices than its dimension has.
[[nodiscard]] std::int64_t axis_pieces(const AxisCall& call);

/// A place outside of the array.
struct OutsidePlace {
  std::int64_t at = 0;     ///< of the result's element in memory: the first one counts
  std::int64_t place = 0;  ///< what the places hold
};
/// Runs pieces begin .. end - 1. Different pieces may run side by side. A take stops at a place outside.
[[nodiscard]] std::optional<OutsidePlace> run_axis(const AxisCall& call, std::int64_t begin, std::int64_t end);

/// UserError (bad_input) if a mask that is true at `count` indices picks along a dimension of another size.
void require_picked(const Op& op, const Dimension& picked, std::int64_t count);

/// All pieces, one after another, with the error.
void run_all(const AxisCall& call);

/// Throws UserError (bad_input).
/// `dim`: the array's dimension, with its size.
[[noreturn]] void refuse_outside(const Op& op, const Dimension& dim, std::int64_t place);

/// True if a comes before b in the order of sort.
[[nodiscard]] bool comes_before(Scalar scalar, const Word& a, const Word& b);

}  // namespace kasen
