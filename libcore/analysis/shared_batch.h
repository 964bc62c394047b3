// Shareds that travel together. Adjacent gathers of shareds in a block, or adjacent scatters of them, are one *batch*
// if none reads another's result. A batch is one tree over the workers. Each pair of workers that meet sends one
// message with the packed elements of all operators, in the order of the operators (docs/ir.md). Each operator keeps
// its own reducer.
#pragma once

#include <cstddef>
#include <map>
#include <span>

#include "libcore/ir/module.h"

namespace kasen {

// A gather or scatter of a shared.
[[nodiscard]] bool is_shared_transition(const Module& module, const Op& op);

// The longest batch that begins with the first of `ops`, which are adjacent operators of one block. Empty if the first
// is not a transition of a shared.
[[nodiscard]] std::span<const Op> shared_batch(const Module& module, std::span<const Op> ops);

// All batches of a module. The module must outlive this object and stay unchanged.
class SharedBatches {
 public:
  explicit SharedBatches(const Module& module) { find(module, module.body); }
  // The batch that begins with `op`; empty if `op` begins none.
  [[nodiscard]] std::span<const Op> led_by(const Op& op) const;

 private:
  void find(const Module& module, const Block& block);
  std::map<const Op*, std::span<const Op>> batches_;
};

}  // namespace kasen
