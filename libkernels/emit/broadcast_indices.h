// With broadcasting, each lane keeps its index along every dimension of the loop, and counts it up like an odometer.
#pragma once

#include <memory>
#include <vector>

#include "libkernels/emit/elements.h"

namespace kasen {

class BroadcastIndices {
 public:
  // `dims`: the loop's dimensions except the cut one, in order, and their sizes.
  BroadcastIndices(Emitter& emitter, const Module& module, std::vector<DimId> dims, std::vector<llvm::Value*> sizes,
                   const Location& where)
      : e_(emitter), module_(module), dims_(std::move(dims)), sizes_(std::move(sizes)), where_(where) {}

  void open(llvm::Value* begin);  // the loop's first element
  void advance();                 // by the emitter's lanes
  // The index of each lane's element in an array of this type, row-major over its own dimensions.
  [[nodiscard]] llvm::Value* index(const Type& type);
  // One bit: all lanes have one index along every dimension but the last. Nothing if there is only the cut one.
  [[nodiscard]] llvm::Value* are_together();
  // Whether an array has the loop's last dimension: elements of lanes that are together follow one another. Otherwise
  // they are one.
  [[nodiscard]] bool has_last(const Type& type) const;
  // The position of each lane's element of a view in its array; a range begins at `begin`. `sizes`: of the array's
  // uncut dimensions.
  [[nodiscard]] llvm::Value* index(const Op& view, const std::vector<llvm::Value*>& sizes, llvm::Value* begin);

 private:
  // For each of its dimensions the position in dims_; no_place stands for the cut dimension. Dimensions are matched
  // from the last one backwards, so that a vector over N meets the columns of a square array.
  [[nodiscard]] std::vector<size_t> places(const Type& type) const;

  Emitter& e_;
  const Module& module_;
  std::vector<DimId> dims_;
  std::vector<llvm::Value*> sizes_;
  const Location& where_;
  std::vector<llvm::AllocaInst*> digits_;  // of the cut dimension, then of `dims_`
  std::vector<llvm::Value*> steps_;
};

// The scalars of some arrays that are broadcast, read at the lanes' indices. Where lanes are together nothing is
// gathered.
struct BroadcastInput {
  const Type* type;
  MemorySource* source;
};
void move_broadcast(Emitter& emitter, BroadcastIndices& indices, const std::vector<BroadcastInput>& inputs);

// Views that a fused loop reads: inputs of their own, whose elements are found in their arrays.
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
