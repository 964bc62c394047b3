// Kernels of a plan that an earlier process made: their facts, and the keys of their code in the store.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libkernels/make/kernel_maker.h"

namespace kasen {

// Thrown by ReplayedKernels where other kernels are asked for than were kept, and by it alone.
struct NotKept {};

// Hands each call to another maker, and remembers what it gave.
class RecordedKernels : public KernelMaker {
 public:
  explicit RecordedKernels(KernelMaker& maker) : maker_(maker) {}
  [[nodiscard]] ElementwiseKernel elementwise(const Module& module, const LoopBody& body,
                                              const std::string& name) override;
  [[nodiscard]] ProductKernel product(const Module& module, const ProductBody& body, const std::string& name) override;
  [[nodiscard]] EntryFoldKernel entry_fold(const Module& module, const Op& op, const std::string& name) override;
  [[nodiscard]] DenseTileKernel row_results(const TileShape& shape, const std::string& name) override;
  [[nodiscard]] DenseTileKernel column_results(const TileShape& shape, const std::string& name) override;
  void fold(const ScalarFunction& reducer, const std::string& name) override;
  void combine(const ScalarFunction& reducer, const std::string& name) override;
  void scan(const ScalarFunction& fn, const std::string& name) override;
  void reduction(const ScalarFunction& reducer, const std::vector<Word>& identity, const std::string& name) override;

  // All of it, with what a compiler made of it: a text of bytes for ReplayedKernels.
  [[nodiscard]] std::string bytes(const CompiledPlan& compiled) const;

 private:
  template <class Kernel>
  Kernel take(const std::string& name, Kernel kernel);
  KernelMaker& maker_;
  std::string bytes_;
};

// Gives the same again, in the same order. NotKept: the calls are others.
class ReplayedKernels : public KernelMaker {
 public:
  explicit ReplayedKernels(std::string bytes);
  [[nodiscard]] ElementwiseKernel elementwise(const Module& module, const LoopBody& body,
                                              const std::string& name) override;
  [[nodiscard]] ProductKernel product(const Module& module, const ProductBody& body, const std::string& name) override;
  [[nodiscard]] EntryFoldKernel entry_fold(const Module& module, const Op& op, const std::string& name) override;
  [[nodiscard]] DenseTileKernel row_results(const TileShape& shape, const std::string& name) override;
  [[nodiscard]] DenseTileKernel column_results(const TileShape& shape, const std::string& name) override;
  void fold(const ScalarFunction& reducer, const std::string& name) override;
  void combine(const ScalarFunction& reducer, const std::string& name) override;
  void scan(const ScalarFunction& fn, const std::string& name) override;
  void reduction(const ScalarFunction& reducer, const std::vector<Word>& identity, const std::string& name) override;

  // What the compiler made, with objects that have keys alone. NotKept: there is more than was asked for.
  [[nodiscard]] CompiledPlan end() const;

 private:
  template <class Kernel>
  Kernel give(const std::string& name);
  std::string bytes_;
  std::string_view rest_;
  CompiledPlan compiled_;
};

// The key under which a plan's kernels are kept: of the plan, but for what does not reach the code, of the target, and
// of the sources that Kasen was built from.
[[nodiscard]] std::string kept_plan_key(const Module& module, const Target& target);

}  // namespace kasen
