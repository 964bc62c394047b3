// Views that a fused loop reads: inputs of their own, whose elements are found in their arrays.
#pragma once

#include <memory>
#include <vector>

#include "libkernels/emit/broadcast_indices.h"
#include "libkernels/emit/elements.h"

namespace kasen {

class ViewInputs {
 public:
  explicit ViewInputs(Emitter& emitter) : e_(emitter) {}

  // `sizes`: of the array's uncut dimensions. `begin`: of a range, in every lane. Returns the source for the loop.
  Source* add(const Op& view, const ArrayPlanes& array, std::vector<llvm::Value*> sizes, llvm::Value* begin);
  [[nodiscard]] bool empty() const { return inputs_.empty(); }
  // Moves the inputs to the lanes' elements.
  void move(BroadcastIndices& indices);

 private:
  struct Input {
    const Op* view;
    std::vector<llvm::Value*> sizes;
    llvm::Value* begin;
    std::unique_ptr<MemorySource> source;
  };
  void ask_ahead(const ArrayPlanes& array, llvm::Value* index);

  Emitter& e_;
  std::vector<Input> inputs_;
};

}  // namespace kasen
