// Eight rows of a product at once, one per lane: a slice of the second form of a matrix (sorted_rows.h). A slice's rows
// lie by descending length, and their nonzeros by step: nonzero 0 of every row, nonzero 1 of every row that has one ...
// So the rows with a nonzero left are the first lanes, and indices and values are read one after another. A lane takes
// its row's nonzeros in order, in one segment: longer rows stay outside.
#pragma once

#include <memory>
#include <vector>

#include "libkernels/emit/product_table.h"

namespace kasen {

class SliceEmitter {
 public:
  SliceEmitter(Emitter& emitter, const Module& module, const ProductKernel& kernel, const ProductTable& table);

  // Slices follow one another in memory from nonzero `entry` on.
  void open(llvm::Value* entry);
  // The next slice, whose rows have `lengths` (8 of i32, descending; 0 for lanes without a row).
  void slice(llvm::Value* lengths);
  // The same in steps: resets all to the identity; takes the slice's nonzeros into segments; combines the lanes in
  // `mask`.
  void begin();
  void take(llvm::Value* lengths);
  void finish(llvm::Value* mask);
  // The 16-bit numbers of `list` from `index` on, as 8 of i32; 0 for lanes outside of `mask` (null: all).
  [[nodiscard]] static llvm::Value* numbers(Emitter& emitter, llvm::Value* list, llvm::Value* index, llvm::Value* mask);
  // The results of the slice's rows, by product.
  [[nodiscard]] Accumulator& total(size_t product) { return *lanes_[product].total; }
  // The same before the identity is combined with it: the result of a segment of a longer row.
  [[nodiscard]] Accumulator& segment(size_t product) { return *lanes_[product].segment; }

 private:
  struct Lane {
    const ProductKernel::Product* product;
    std::unique_ptr<MemorySource> vector;
    std::unique_ptr<Accumulator> total, segment;
    std::unique_ptr<OperatorValue> multiplied;
    OneSource one;
  };
  void step(llvm::Value* mask);
  [[nodiscard]] std::vector<llvm::Value*> indices(llvm::Value* place, llvm::Value* vector, llvm::Value* mask);

  Emitter& e_;
  const Module& module_;
  llvm::Value* indices_;
  std::unique_ptr<MemorySource> values_;  // null: a pattern
  std::vector<Lane> lanes_;
  llvm::AllocaInst* entry_;
};

// Whether a lane can take the products: small arrays as elements are long work each, and stay one row at a time.
[[nodiscard]] bool may_run_in_slices(const ProductKernel& kernel);

// window(arguments, order, lengths, first, entry, count, scratch, begun, more): the results of `count` rows, whose
// numbers are `order` from `first` on, and whose slices begin at `entry`. The nonzeros of a row may come block by
// block. Between the calls, its result holds the state of its segment (`begun`: by earlier blocks; `more`: some are to
// come).
[[nodiscard]] std::int64_t emit_window(Jit& jit, const Module& module, const ProductKernel& kernel,
                                       const std::string& name);

// slice(arguments, lengths, entry, partials, scratch): eight segments of one row, whose nonzeros begin at `entry`. Lane
// l's partial is written at partials + l * partial_bytes, also for lanes of length 0.
[[nodiscard]] std::int64_t emit_slice(Jit& jit, const Module& module, const ProductKernel& kernel,
                                      const std::string& name);

}  // namespace kasen
