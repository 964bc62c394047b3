// Shareds that travel together. Adjacent gathers of shareds in a block, or adjacent scatters of them, are one *batch*
// if none reads another's result. Each operator keeps its own reducer. A batch travels in one of two ways, which add in
// the same order (docs/ir.md, "Exchanges"):
//
//   tree    a binary tree over the workers. Each pair of workers that meet sends one message with the packed elements
//   of
//           all operators, in the order of the operators.
//   slices  for a *pair* of batches: gathers, and directly behind them the scatters of all their results, which nothing
//           else reads. Each worker has a slice of each array. The gathers are one round (reduce-scatter): each worker
//           receives its slice from all others and combines them. The scatters are another (all-gather): each sends its
//           slice to all others. A worker sends and receives 1 - 1/P of the arrays in each, not up to log2 P times all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>

#include "libcore/ir/module.h"

namespace kasen {

// A gather or scatter of a shared from or to all workers; not along some axes of a mesh alone.
[[nodiscard]] bool is_shared_transition(const Module& module, const Op& op);

// The longest batch that begins with the first of `ops`, which are adjacent operators of one block. Empty if the first
// is not a transition of a shared.
[[nodiscard]] std::span<const Op> shared_batch(const Module& module, std::span<const Op> ops);

// The least bytes of a slice: with less, the messages of a round cost more than the bytes that it saves.
inline constexpr std::int64_t least_slice_bytes = 512;
// True if `bytes` of a batch travel in slices between `workers`. `paired`: as SharedBatches::is_paired says.
[[nodiscard]] bool travels_in_slices(bool paired, std::int64_t bytes, int workers);

// The slice of a worker: elements begin .. end - 1 of an array of `count`.
struct Slice {
  std::int64_t begin = 0, end = 0;
  [[nodiscard]] std::int64_t count() const { return end - begin; }
};
[[nodiscard]] Slice slice_of(std::int64_t count, int worker, int workers);

// All batches of a module: the longest, or those of its schedule. The module must outlive this object and stay
// unchanged.
class SharedBatches {
 public:
  explicit SharedBatches(const Module& module);
  // The batch that `op` belongs to; empty if it is no transition of a shared.
  [[nodiscard]] std::span<const Op> holding(const Op& op) const;
  // The batch that begins with `op`; empty if `op` begins none.
  [[nodiscard]] std::span<const Op> led_by(const Op& op) const;
  // True if the batch is one of a pair: gathers, or the scatters of their results.
  [[nodiscard]] bool is_paired(std::span<const Op> batch) const { return paired_.contains(batch.data()); }

 private:
  void find(const Module& module, const Block& block);
  static std::span<const Op> batch_at(const Module& module, const Block& block, size_t i);
  [[nodiscard]] bool are_pair(std::span<const Op> gathers, std::span<const Op> scatters) const;
  std::map<const Op*, std::span<const Op>> batches_;  // of each operator
  std::set<const Op*> paired_;
  std::map<ValueId, int> reads_;  // of the results of gathers of shareds
};

}  // namespace kasen
