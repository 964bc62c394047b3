// Shareds that travel together. By rule adjacent gathers of shareds in a block, or adjacent scatters of them, are one
// *batch* if none reads another's result: one tree over the workers, one message for each pair of workers that meet,
// with the packed elements of all of them in the order of the operators (docs/ir.md). Each keeps its own reducer.
#pragma once

#include <cstddef>
#include <map>
#include <span>

#include "libcore/ir/module.h"

namespace kasen {

// A gather or scatter of a shared.
[[nodiscard]] bool is_shared_transition(const Module& module, const Op& op);

// The longest batch that begins with the first of `ops`, operators of one block that follow one another; empty if that
// is no transition of a shared.
[[nodiscard]] std::span<const Op> shared_batch(const Module& module, std::span<const Op> ops);

// All batches of a module, which must outlive them unchanged.
class SharedBatches {
 public:
  explicit SharedBatches(const Module& module) { find(module, module.body); }
  // The batch that begins with `op`; empty for an operator that begins none.
  [[nodiscard]] std::span<const Op> led_by(const Op& op) const;

 private:
  void find(const Module& module, const Block& block);
  std::map<const Op*, std::span<const Op>> batches_;
};

}  // namespace kasen
