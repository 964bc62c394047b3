#include "libkernels/jit/primitives.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <numeric>
#include <vector>

namespace kasen {

llvm::Value* scaled_at_once(llvm::IRBuilder<>& b, const Target& target, llvm::Value* x, llvm::Value* n) {
  constexpr unsigned width = 8, as_set = 4;  // lanes of the instruction; round as the processor is set to
  const auto* const type = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  if (!target.is_x86() || target.vector_bits() != 512 || type == nullptr || type->getNumElements() % width != 0)
    return nullptr;
  std::vector<llvm::Value*> parts;
  for (unsigned first = 0; first < type->getNumElements(); first += width) {
    std::vector<int> places(width);
    std::iota(places.begin(), places.end(), static_cast<int>(first));
    llvm::Value *of = b.CreateShuffleVector(x, places), *by = b.CreateShuffleVector(n, places);
    parts.push_back(b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_scalef_pd_512, {},
                                      {of, by, of, b.getInt8(0xff), b.getInt32(as_set)}));
  }
  return llvm::concatenateVectors(b, parts);
}

void fence_streams(llvm::IRBuilder<>& b, const Target& target) {
  if (target.may_stream()) b.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
}

}  // namespace kasen
