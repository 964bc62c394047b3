// The compiler by the emitters.
#include <utility>

#include "libkernels/jit/jit.h"
#include "libkernels/make/kernel_maker.h"

namespace kasen {
namespace {

class Emitters : public KernelCompiler {
 public:
  Emitters(const Target& target, const CodeStore& store) : jit_(target, store) {}

  ElementwiseKernel elementwise(const Module& module, const LoopBody& body, const std::string& name) override {
    jit_.begin_piece();
    return emit_elementwise(jit_, module, body, name, scratch_bytes_);
  }
  ProductKernel product(const Module& module, const ProductBody& body, const std::string& name) override {
    jit_.begin_piece();
    return emit_product(jit_, module, body, name, scratch_bytes_);
  }
  EntryFoldKernel entry_fold(const Module& module, const Op& op, const std::string& name) override {
    jit_.begin_piece();
    return emit_entry_fold(jit_, module, op, name, scratch_bytes_);
  }
  DenseTileKernel row_results(const TileShape& shape, const std::string& name) override {
    jit_.begin_piece();
    return emit_row_results(jit_, shape, name);
  }
  DenseTileKernel column_results(const TileShape& shape, const std::string& name) override {
    jit_.begin_piece();
    return emit_column_results(jit_, shape, name);
  }
  void fold(const ScalarFunction& reducer, const std::string& name) override {
    jit_.begin_piece();
    emit_fold(jit_, reducer, name, scratch_bytes_);
  }
  void combine(const ScalarFunction& reducer, const std::string& name) override {
    jit_.begin_piece();
    emit_combine(jit_, reducer, name, scratch_bytes_);
  }
  void scan(const ScalarFunction& fn, const std::string& name) override {
    jit_.begin_piece();
    emit_scan(jit_, fn, name, scratch_bytes_);
  }
  void reduction(const ScalarFunction& reducer, const std::vector<Word>& identity, const std::string& name) override {
    jit_.begin_piece();
    emit_reduction(jit_, reducer, identity, name, scratch_bytes_);
  }
  CompiledPlan compile(int threads, std::string* assembly) override {
    CompiledPieces pieces = jit_.compile(threads, assembly);
    return {std::move(pieces.objects), jit_.machine().cpu(), scratch_bytes_, pieces.made};
  }

 private:
  Jit jit_;
  std::int64_t scratch_bytes_ = 0;
};

}  // namespace

std::unique_ptr<KernelCompiler> make_compiler(const Target& target, const CodeStore& store) {
  return std::make_unique<Emitters>(target, store);
}

}  // namespace kasen
