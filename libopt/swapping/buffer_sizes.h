// The bytes that the buffers of a plan take on each worker.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/cost/sizes.h"

namespace kasen::swapping {

class BufferSizes {
 public:
  // UserError (usage) if `sizes` does not say how large arrays are on each worker.
  BufferSizes(const Module& module, const std::function<Sizes(const Module&)>& sizes);
  // On the worker where it is largest.
  [[nodiscard]] std::int64_t bytes(BufferId buffer) const { return largest_[buffer]; }
  // Of all buffers in memory, on the worker where they take most.
  [[nodiscard]] std::int64_t pool() const { return pool_; }

 private:
  IdMap<BufferId, std::int64_t> largest_;
  std::int64_t pool_ = 0;
};

}  // namespace kasen::swapping
