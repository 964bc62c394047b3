// One LLVM module for a whole plan: filled by the emitters, then optimized and compiled at once.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <memory>
#include <string>
#include <vector>

#include "libkernels/jit/code_cache.h"
#include "libkernels/jit/machine.h"
#include "libkernels/jit/target.h"

namespace kasen {

class Jit {
 public:
  Jit(const Target& target, const CodeStore& store);
  ~Jit();

  [[nodiscard]] const Target& target() const { return target_; }
  [[nodiscard]] const Machine& machine() const { return machine_; }
  [[nodiscard]] llvm::LLVMContext& context() { return *context_; }
  // An external function `name(parameters...)` without a result, with the attributes that the target needs.
  [[nodiscard]] llvm::Function* add_function(const std::string& name, const std::vector<llvm::Type*>& parameters);

  // After this, no function can be added. `threads` threads cut and compile large modules; the code is the same however
  // many they are. With `assembly`, the text of the machine code goes there.
  [[nodiscard]] std::vector<CompiledObject> compile(int threads, std::string* assembly);

 private:
  [[nodiscard]] std::vector<CompiledObject> compile_shares(int threads) const;

  Target target_;
  Machine machine_;
  const CodeStore& store_;
  std::unique_ptr<llvm::LLVMContext> context_;
  std::unique_ptr<llvm::Module> module_;
};

}  // namespace kasen
