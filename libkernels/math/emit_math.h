// Functions of real numbers as straight-line code, for all lanes at once: no call, and no registers to save for one.
// The bits depend on the numbers alone, neither on the processor nor on its libraries.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <span>

#include "libcore/scalar/scalar.h"
#include "libkernels/jit/target.h"

namespace kasen {

// The elementary functions but for those that are instructions, and pow; of f64, and of f32, which is computed in f64.
[[nodiscard]] bool emits_math(ScalarOp op, const ElementType& operand);
// Their code, on one value or a vector of them; pow has two `args`.
[[nodiscard]] llvm::Value* emit_math(llvm::IRBuilder<>& b, ScalarOp op, std::span<llvm::Value* const> args,
                                     const Target& target);

}  // namespace kasen
