// Functions of real numbers as straight code, for all lanes at once: no call, and nothing to keep from its registers.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "libcore/scalar/scalar.h"
#include "libkernels/jit/target.h"

namespace kasen {

// exp, log, log1p and erf of f64.
[[nodiscard]] bool emits_math(ScalarOp op, const ElementType& operand);
// Their code, on one value or a vector of them. Within 2 ulp (tests/kernels/accuracy_test.cpp). It multiplies and adds
// in one instruction where it says so: for processors that can (Target::fuses).
[[nodiscard]] llvm::Value* emit_math(llvm::IRBuilder<>& b, ScalarOp op, llvm::Value* x, const Target& target);

}  // namespace kasen
