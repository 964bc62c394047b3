// Folds of the interpreter kernels, alone or with others in a region (entries.h): nonzero by nonzero, in the order that
// kernel_set.h and entries.h fix. Operator entries is one that stores the function's value for each nonzero.
// Internal to libcore/kernels/interpreter_kernels.cpp.
#pragma once

#include <vector>

#include "libcore/ir/entries.h"
#include "libcore/kernels/kernel_set.h"

namespace kasen::interpreter {

// One pass over nonzeros: what it reads and makes of a call's arrays.
struct Fold {
  struct Result {
    const ScalarFunction* reduce = nullptr;  // null: operator entries
    std::vector<Word> identity;
    std::vector<size_t> outputs;  // its places among the call's outputs
  };
  EntryPass pass;
  std::vector<size_t> inputs;   // of each operand its place among the call's inputs
  std::vector<Result> results;  // of each of the pass's
  bool pattern = false;         // nonzeros are the constant 1
};

// Of a fold, or of a region with folds. Throws UserError(bad_input) for a reducer without an identity.
[[nodiscard]] Fold make_fold(const Module& module, const Op& op);
void run_fold(const Fold& fold, const ProductCall& call, AccessCount& count);

}  // namespace kasen::interpreter
