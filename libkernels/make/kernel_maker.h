// Who makes the kernels of a plan: a compiler, or memory of what one made before.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "libcore/base/library_versions.h"
#include "libkernels/emit/entry_fold.h"
#include "libkernels/emit/kernel.h"
#include "libkernels/jit/code_cache.h"
#include "libkernels/jit/target.h"
#include "libkernels/tile/dense_tile.h"

namespace kasen {

// Each call has code for one operator or region under `name`, and returns the facts with which the skeletons run it;
// addresses come later (CodeImage::find). UserError(bad_input): there is no such kernel.
class KernelMaker {
 public:
  virtual ~KernelMaker() = default;
  [[nodiscard]] virtual ElementwiseKernel elementwise(const Module& module, const LoopBody& body,
                                                      const std::string& name) = 0;
  [[nodiscard]] virtual ProductKernel product(const Module& module, const ProductBody& body,
                                              const std::string& name) = 0;
  [[nodiscard]] virtual EntryFoldKernel entry_fold(const Module& module, const Op& op, const std::string& name) = 0;
  [[nodiscard]] virtual DenseTileKernel row_results(const TileShape& shape, const std::string& name) = 0;
  [[nodiscard]] virtual DenseTileKernel column_results(const TileShape& shape, const std::string& name) = 0;
  virtual void fold(const ScalarFunction& reducer, const std::string& name) = 0;
  virtual void combine(const ScalarFunction& reducer, const std::string& name) = 0;
  virtual void scan(const ScalarFunction& fn, const std::string& name) = 0;
  virtual void reduction(const ScalarFunction& reducer, const std::vector<Word>& identity, const std::string& name) = 0;
};

struct CompiledPlan {
  std::vector<CompiledObject> objects;
  std::string cpu;                 // the compiler's name of this processor
  std::int64_t scratch_bytes = 0;  // that the kernels need on each thread
  std::int64_t made = 0;           // objects that were compiled now; the others were found
};

class KernelCompiler : public KernelMaker {
 public:
  // All that was made, once. `threads` threads cut and compile it, if it is large; the code is the same however many
  // they are. With `assembly`, the text of the machine code goes there.
  [[nodiscard]] virtual CompiledPlan compile(int threads, std::string* assembly) = 0;
};

// The compiler, LLVM. A program links one of two libraries that define these: with LLVM itself (compiler.cpp), or with
// compiler_later.cpp, which loads a module at the first call. The second throws UserError(missing_input) if the module
// is not where it belongs, is another build's, or cannot be loaded.
// `store` lives as long as the compiler.
[[nodiscard]] std::unique_ptr<KernelCompiler> make_compiler(const Target& target, const CodeStore& store);
[[nodiscard]] LibraryVersions llvm_versions();

}  // namespace kasen
