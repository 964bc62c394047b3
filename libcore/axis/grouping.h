/// \file
/// reduce_by on one worker (libcore/ir/axis_ops.h): which element of the result each element goes to.
///
/// The order of combination is fixed for every kernel set and thread count. The elements that are walked over are
/// divided into group_blocks(...) blocks, by their number alone. Each block reduces its elements, in the order of the
/// memory, onto an array of its own that holds identities. The first block's is the result, and the others are combined
/// onto it, block after block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "libcore/axis/axis.h"

namespace kasen {

class GroupWalk {
 public:
  explicit GroupWalk(const AxisCall& call);

  /// Elements that are walked over, and elements of the result.
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::int64_t results() const { return results_; }
  /// True if the value is single: each element of the walk reduces it.
  [[nodiscard]] bool single() const { return single_; }

  /// The places in the result of elements begin, begin + 1, ... Stops at a key outside; its `at` counts elements of the
  /// walk.
  [[nodiscard]] std::optional<OutsidePlace> targets(std::int64_t begin, std::span<std::int64_t> places) const;

 private:
  struct Axis {
    std::int64_t size = 1, key = 0, to = 0;  // elements from one index to the next, of the keys and the result
  };

  // The places of elements along the last axis; the first one whose key is outside.
  template <class Key>
  [[nodiscard]] std::optional<std::int64_t> along(const Key* keys, std::int64_t step, std::int64_t to,
                                                  std::int64_t to_step, std::span<std::int64_t> places) const;

  const AxisCall& call_;
  std::vector<Axis> axes_;  // of the walked array, in the order of its memory
  std::int64_t count_ = 1, results_ = 1;
  std::int64_t apart_ = 1;  // elements of the result from one key to the next
  std::int64_t keys_ = 0;   // the size of the dimension of keys
  bool wide_ = true, single_ = false;
};

/// The number of blocks: several where the result is so small that arrays of its own cost little.
[[nodiscard]] std::int64_t group_blocks(const GroupWalk& walk);

/// Calls take(block, begin, end) for elements of the walk in their order, each within one block; through the call's
/// gate.
template <class Take>
void for_each_piece(const AxisCall& call, const GroupWalk& walk, const Take& take) {
  const std::int64_t count = walk.count(), blocks = group_blocks(walk);
  const std::int64_t some = call.gate == nullptr ? std::max<std::int64_t>(call.indices, 1) : call.at_once;
  const std::int64_t inner = count / std::max<std::int64_t>(call.indices, 1);
  std::int64_t block = 0;
  for (std::int64_t row = 0; row < call.indices; row += some) {
    const std::int64_t last = std::min(call.indices, row + some);
    if (call.gate != nullptr) call.gate->enter(row, last);
    for (std::int64_t at = row * inner; at < last * inner;) {
      while (count * (block + 1) / blocks <= at) ++block;
      const std::int64_t end = std::min(last * inner, count * (block + 1) / blocks);
      take(block, at, end);
      at = end;
    }
    if (call.gate != nullptr) call.gate->leave(row, last);
  }
}

/// Throws UserError (bad_input).
[[noreturn]] void refuse_key(const AxisCall& call, std::int64_t key);

}  // namespace kasen
