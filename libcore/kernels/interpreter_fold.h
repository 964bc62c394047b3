// Folds of the interpreter kernels (entries.h): nonzero by nonzero, in the order that kernel_set.h and entries.h fix.
// Internal to libcore/kernels/interpreter_kernels.cpp.
#pragma once

#include <vector>

#include "libcore/ir/entries.h"
#include "libcore/kernels/kernel_set.h"

namespace kasen::interpreter {

// One fold operator: the properties of its operands, and the parts of its function.
struct Fold {
  struct Operand {
    ElementType element;  // as it is stored
    ElementType seen;     // by the function
    std::int64_t columns = 1;
    EntrySide side = EntrySide::shared;
    bool across = false;
  };
  std::vector<Operand> operands;  // [i - 1] for operand i
  ElementType entry, result;      // entry: as the function sees it
  bool pattern = false;           // nonzeros are the constant 1
  std::int64_t columns = 1;       // of the result
  EntryFunction function;
  const ScalarFunction* reduce = nullptr;
  std::vector<Word> identity;
};

// Throws UserError(bad_input) for a reducer without an identity.
[[nodiscard]] Fold make_fold(const Module& module, const Op& op);
void run_fold(const Fold& fold, const ProductCall& call, AccessCount& count);

}  // namespace kasen::interpreter
