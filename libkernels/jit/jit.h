// The code of a plan as LLVM modules, one a kernel: filled by the emitters, then optimized and compiled at once.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <memory>
#include <string>
#include <vector>

#include "libkernels/jit/compile_pieces.h"
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
  // Functions from here on are a piece of their own, which is compiled, kept and found again by itself.
  void begin_piece();
  // An external function `name(parameters...)` without a result, with the attributes that the target needs.
  [[nodiscard]] llvm::Function* add_function(const std::string& name, const std::vector<llvm::Type*>& parameters);

  // After this, no function can be added. Pieces of the same code are one. `threads` threads compile them; the code is
  // the same however many they are. With `assembly`, all is one object, whose functions have their own names, and the
  // text of the machine code goes there.
  [[nodiscard]] CompiledPieces compile(int threads, std::string* assembly);

 private:
  // A module whose functions are called by their numbers, so that its text says nothing of the plan.
  struct Piece {
    std::unique_ptr<llvm::Module> module;
    std::vector<NamedFunction> functions;
  };
  [[nodiscard]] CompiledObject compile_whole(std::string& assembly);

  Target target_;
  Machine machine_;
  const CodeStore& store_;
  std::unique_ptr<llvm::LLVMContext> context_;
  llvm::DataLayout layout_;
  std::vector<Piece> pieces_;
};

}  // namespace kasen
