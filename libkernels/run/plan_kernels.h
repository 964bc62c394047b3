// All kernels of a plan: prepare makes them, and the skeletons run them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "libcore/kernels/kernel_set.h"
#include "libcore/rows/row_region.h"
#include "libkernels/emit/entry_fold.h"
#include "libkernels/emit/kernel.h"
#include "libkernels/jit/code_image.h"
#include "libkernels/make/kernel_maker.h"
#include "libkernels/run/kernel_options.h"
#include "libkernels/run/partial_reduction.h"
#include "libkernels/tile/dense_tile.h"

namespace kasen {

struct LoopKernels {
  ElementwiseKernel all;
  std::optional<ElementwiseKernel> slaves;  // the part of a mixed region that runs behind the owned elements
};

// A loop over a compressed matrix's distinct values with their counts. The counts are inputs behind the op's operands:
// one array of each of these types.
struct DistinctKernel {
  ElementwiseKernel kernel;
  std::vector<Scalar> weights;
};

struct ProductKernels {
  ProductKernel kernel;
  struct Copy {
    int from, to;
  };
  std::vector<int> outputs;  // of each product among the op's results; -1: only its epilogue uses it
  std::vector<Copy> copies;  // results that are the same value again
  std::optional<ElementwiseKernel> epilogue;
  std::vector<int> epilogue_inputs;  // its inputs among the op's operands; -1 - k: the result of product k
  // Rows and vector work in one loop, with the result in a register: for rows in slices, in their own order. Its inputs
  // are those of the epilogue that are operands.
  std::optional<ElementwiseKernel> fused = std::nullopt;
};

// Products with one dense matrix: BLIS, which takes several in one pass, or the product kernel over a row of
// consecutive indices, which takes one.
struct DenseKernels {
  struct Product {
    bool transposed = false, onto = false;
    std::int64_t columns = 1;
    int vector = 0;                                  // position among the op's operands
    std::vector<int> results;                        // positions among its results: the same value in each
    std::int64_t read_bytes = 0, written_bytes = 0;  // of an element that is counted; 0: a shared
  };
  std::vector<Product> products;
  ElementType matrix;
  std::int64_t matrix_bytes = 0;        // of an element that is counted; 0: a shared
  std::optional<ProductKernel> kernel;  // nothing: BLIS
};

// A row_chain region. Values of rows that one part of it makes and another reads are in *rooms*, for the current rows.
// Among positions of vectors of rows, one that is not negative is an operand of the op; -1 - k is room k.
struct ChainKernels {
  struct Inner {  // one result a row: its vector is an operand
    int vector = 0, room = 0;
    std::int64_t columns = 1;
  };
  struct Outer {  // one result a column
    int rows = 0;
    std::vector<int> results;  // positions among the op's results: the same value in each
    std::int64_t columns = 1;
  };
  struct Loop {
    ElementwiseKernel kernel;
    std::vector<int> inputs;
    std::vector<int> rooms;  // of each of the loop's outputs; -1: it is the op's result
  };
  // Arrays with columns hold a row's side by side; here every column is a plane (lift_columns.h). Rows of operands and
  // results are transposed on their way into and out of rooms; shareds, when the region begins and ends.
  struct TurnedRows {
    int place = 0, room = 0;  // of a result
  };
  struct LoadedRows {
    int place = 0, room = 0;  // of an operand
    std::int64_t stride = 1;  // scalars of the operand a row
    int begin = -1;           // the operand that gives the room's first column; -1: it has all
    bool compressed = false;
  };
  struct TurnedWhole {
    int place = 0;
    Scalar scalar = Scalar::f64;
    std::int64_t columns = 1;
    bool along = false;  // over the matrix's columns; else a shared
  };
  std::vector<LoadedRows> loads;
  std::vector<TurnedRows> stores;
  std::vector<TurnedWhole> whole_inputs, whole_outputs;
  bool chunked = false;  // has columns anywhere: nothing waits for more than a chunk of rows
  std::vector<ElementType> rooms;
  std::vector<Inner> inner;
  std::optional<Loop> before;  // for the outer products: from rooms and operands to rooms
  std::vector<Outer> outer;
  std::optional<Loop> behind;  // results that are handed on or reduced; its outputs are the op's results
  ElementType matrix;
  DenseTileKernel inner_tiles, outer_tiles;  // of all products of one direction; nothing for none
  // Bytes that are counted for a row, and for a column; shareds cost nothing.
  std::int64_t matrix_bytes = 0;
  std::int64_t row_reads = 0, row_writes = 0, column_reads = 0, column_writes = 0;
};

// A region of rows: the steps that a block of its rows goes through. Values are numbered: the region's operands, then
// what its operators make.
struct RowsKernels {
  struct Value {
    ElementType element;
    std::int64_t inner = 1;         // elements of a row, or of a whole array or total
    bool of_rows = false;           // else it is whole, or a total
    bool viewed = false;            // parts of its rows alone are read
    int operand = -1, result = -1;  // where it lies; neither: in a room, `offset` bytes from its begin
    std::int64_t offset = 0;        // of a total: among the totals of a share
    FnId reducer = no_fn;           // of a total
    std::vector<Word> identity;     // of it
  };
  struct Loop {
    ElementwiseKernel kernel;
    std::vector<int> inputs, outputs;
    std::int64_t inner = 1;
    std::vector<std::int64_t> sizes;  // of the kernel's local dimensions
    bool last = false;                // no step reads what it stores
  };
  struct Reduction {
    PartialReduction reduction;
    int from = 0, to = 0;
  };
  struct Product {
    bool transposed = false;
    int matrix = 0, operand = 0, result = 0;
    std::int64_t columns = 1;
  };
  // A product or fold of the sparse matrix that makes rows.
  struct Entries {
    EntryFoldKernel kernel;
    std::vector<int> inputs;  // values, of each of the kernel's operands
    int result = 0;
  };
  // The same into a total: the kernel stores a value for each nonzero, which is then combined into that of its column.
  struct EntryTotal {
    EntryFoldKernel kernel;
    std::vector<int> inputs;
    int result = 0;
    ElementType element;
  };
  // An mxvt of the sparse matrix and a vector, of f64 or f32 that are multiplied and added. Without an operand: the
  // sums of rows, times 1.
  struct SparseProduct {
    int operand = 0, result = 0;
    Scalar scalar = Scalar::f64;
  };
  // An mxv, likewise.
  struct SparseTotal {
    int operand = 0, result = 0;
    std::int64_t columns = 1;
    Scalar scalar = Scalar::f64;
  };
  std::vector<Value> values;
  std::vector<std::variant<Loop, Reduction, Product, Entries, EntryTotal, SparseProduct, SparseTotal>> steps;
  std::vector<int> totals;                  // values
  std::vector<std::pair<int, int>> copies;  // results that are the same again: from, to
  RowSizes sizes;
  RowTraffic traffic;
  std::int64_t block_rows = 8;
  std::int64_t room_bytes = 0, total_bytes = 0;  // of a block's values; of a share's totals
  std::int64_t entry_bytes = 0;  // of the values that an EntryTotal stores for a nonzero, and its number
};

struct PlanKernels {
  CodeImage code;
  Target target;
  std::string processor;  // KernelSet::processor
  std::map<const Op*, LoopKernels> loops;
  std::map<const Op*, DistinctKernel> distinct;  // beside the loops that take cells one by one
  std::map<const Op*, PartialReduction> partial_reductions;
  std::map<const Op*, ProductKernels> products;
  std::map<const Op*, DenseKernels> dense;
  std::map<const Op*, ChainKernels> chains;
  std::map<const Op*, RowsKernels> rows;
  std::map<const Op*, EntryFoldKernel> entry_folds;
  std::map<FnId, FoldFunction> folds;
  std::map<FnId, CombineFunction> combines;
  std::map<FnId, ReductionFunction> reductions;
  std::map<FnId, ScanKernels> scans;
  KernelCounts counts;
  std::int64_t scratch_bytes = 0;  // of each thread
  std::int64_t cached_bytes = 0;   // results of a loop that take more are stored past the caches; 0: all are small
  std::string assembly;
};

// The kernels of a kernel set and of all sets that came from it, which other threads may use: copies count together.
class KernelCounter {
 public:
  void add(const KernelCounts& counts) {
    counts_->made += counts.made;
    counts_->kept += counts.kept;
  }
  [[nodiscard]] KernelCounts all() const { return {counts_->made, counts_->kept}; }

 private:
  struct Counts {
    std::atomic<std::int64_t> made = 0, kept = 0;
  };
  std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
};

class ColumnLift;

// A region of this product alone; only its operands, results and content count.
[[nodiscard]] Op chain_of(const Op& product);

// For a row_chain region, whose values `lift` takes. Loops are emitted as `name` and a suffix each, and not yet looked
// up; tiles are not emitted yet. `folded` gets the reducers of its reductions.
[[nodiscard]] ChainKernels make_chain_kernels(KernelMaker& maker, ColumnLift& lift, const Op& region,
                                              const std::string& name, std::set<FnId>& folded);

// For a region of rows. `loop` makes the kernel of a loop. The reducers of reductions and products come into
// `combined`, and those of regular reductions into `reductions`.
[[nodiscard]] RowsKernels make_rows_kernels(const Module& module, const Op& region,
                                            const std::function<ElementwiseKernel(const LoopBody&)>& loop,
                                            const std::function<EntryFoldKernel(const Op&)>& entries,
                                            std::set<FnId>& combined, std::map<FnId, ReductionFunction>& reductions);

// Asks for all kernels of a plan. What it returns finds the addresses, once plan.code is loaded; the plan must not have
// moved.
using LookUp = std::function<void()>;
[[nodiscard]] LookUp ask_for_kernels(const Module& module, PlanKernels& plan, KernelMaker& maker);

// Emits and compiles, or takes what was kept. UserError (bad_input) with the statement's position for a plan that
// cannot be generated.
[[nodiscard]] PlanKernels make_plan_kernels(const Module& module, const KernelOptions& options);

}  // namespace kasen
