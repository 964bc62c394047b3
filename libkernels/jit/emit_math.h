// Functions of real numbers as straight-line code, for all lanes at once: no call, and no registers to save for one.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "libcore/scalar/scalar.h"
#include "libkernels/jit/target.h"

namespace kasen {

// exp, log, log1p and erf of f64.
[[nodiscard]] bool emits_math(ScalarOp op, const ElementType& operand);
// Their code, on one value or a vector of them. Within 2 ulp (tests/kernels/accuracy_test.cpp). Where it says so, it
// multiplies and adds in one instruction: for processors that can (Target::fuses).
[[nodiscard]] llvm::Value* emit_math(llvm::IRBuilder<>& b, ScalarOp op, llvm::Value* x, const Target& target);

}  // namespace kasen
