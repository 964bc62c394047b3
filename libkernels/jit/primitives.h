// The table of primitives of generated code: instructions of one kind of processor that LLVM has no common name for.
// Everything else in the emitters is portable.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "libkernels/jit/target.h"

namespace kasen {

// x 2^n for whole numbers n, rounded once: vectors of f64. Null: the target has no such instruction.
[[nodiscard]] llvm::Value* scaled_at_once(llvm::IRBuilder<>& b, const Target& target, llvm::Value* x, llvm::Value* n);

// Stores past the caches before it are seen before stores behind it; nothing where stores cannot go past the caches.
void fence_streams(llvm::IRBuilder<>& b, const Target& target);

}  // namespace kasen
