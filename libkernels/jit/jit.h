// One LLVM module for a whole plan: filled by the emitters, then optimized, compiled and looked up at once.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "libkernels/jit/target.h"

namespace llvm::orc {
class LLJIT;  // its header takes longer to compile than all else here: only jit.cpp includes it
}

namespace kasen {

class Jit {
 public:
  explicit Jit(std::string cache_folder, Target target = Target());  // the folder of code_cache.h
  ~Jit();

  [[nodiscard]] const Target& target() const { return target_; }
  [[nodiscard]] llvm::LLVMContext& context() { return *context_; }
  // An external function `name(parameters...)` without a result, with the attributes that the target needs.
  [[nodiscard]] llvm::Function* add_function(const std::string& name, const std::vector<llvm::Type*>& parameters);
  // Declares a library function; its address is kept for compile().
  [[nodiscard]] llvm::FunctionCallee declare(const MathFunction& function, llvm::FunctionType* type);

  // After this, no function can be added. `threads` threads cut and compile large modules; the code is the same however
  // many they are. With `assembly`, the text of the machine code goes there.
  void compile(int threads = 1, std::string* assembly = nullptr);
  [[nodiscard]] void* lookup(const std::string& name);

 private:
  void compile_shares(int threads);

  Target target_;
  std::unique_ptr<llvm::LLVMContext> context_;
  std::unique_ptr<llvm::Module> module_;
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  std::map<std::string, std::uint64_t> symbols_;
  std::string cache_folder_;
};

}  // namespace kasen
