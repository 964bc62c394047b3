// The reductions of a fused loop: an accumulator each, over the lanes and then over the block.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "libkernels/emit/elements.h"
#include "libkernels/emit/strip_sums.h"

namespace kasen {

class LoopReductions {
 public:
  LoopReductions(Emitter& emitter, const Module& module) : e_(emitter), module_(module) {}

  // Makes the accumulators, which begin with their identities, and lists the reductions in `kernel`.
  void make(const LoopBody& body, ElementwiseKernel& kernel);
  [[nodiscard]] bool empty() const { return reductions_.empty(); }
  // Whether there are more accumulators than registers.
  [[nodiscard]] bool in_memory() const { return home_ == Accumulator::Home::scratch; }

  void accumulate(const Op& reduce, Source& value);
  // Adds what StripSums takes of the elements first .. last - 1; move_to(i) moves the inputs.
  void add_strip(StripSums& sums, llvm::Value* first, llvm::Value* last,
                 const std::function<void(llvm::Value* i)>& move_to);
  // What the groups have summed becomes their reductions' lanes.
  void take_groups(StripSums& sums);
  // Combines lane l with l + 4, l + 2, l + 1; lane 0 then holds the block's value, which is stored as a partial.
  void close(llvm::Value* partials);

 private:
  struct Reduction {
    const Op* op;
    std::vector<Word> identity;
    std::int64_t slot, scratch;  // bytes before it of a block's partial, and of scratch memory
    Accumulator lanes;
  };
  void choose_home(const LoopBody& body);
  [[nodiscard]] size_t number_of(const Op& reduce) const;
  [[nodiscard]] bool alike(size_t first, size_t count) const;
  using OfAlike = std::function<void(const Reduction& first, Accumulator& lanes, llvm::Value* k)>;
  void each_alike(size_t first, size_t count, const OfAlike& body);
  using OfEach = std::function<void(const Reduction& first, Accumulator& lanes, llvm::Value* slot)>;
  void each(const OfEach& body);

  Emitter& e_;
  const Module& module_;
  std::vector<Reduction> reductions_;
  Accumulator::Home home_ = Accumulator::Home::block;
};

}  // namespace kasen
