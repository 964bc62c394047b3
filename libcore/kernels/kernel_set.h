// Who computes on one worker. libcore carries the plain interpreter; libkernels generated code. Kernels see local
// storage only; they run on sub-ranges, so that work that needs no slave overlaps with an exchange.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "libcore/data/data.h"
#include "libcore/data/mirrored.h"
#include "libcore/ir/module.h"
#include "libcore/kernels/numbering.h"

namespace kasen {

// The fixed order of reductions, the same for every kernel set, thread count and vector width (DESIGN section 6):
// elements are taken in blocks of `reduction_block`; within a block element i goes to lane i % reduction_lanes, each
// lane starts from the reducer's identity and takes its elements in order; lanes are combined l with l+4, l+2, l+1;
// blocks are combined in order onto the accumulator. A row of a product takes its entries in order, in segments of
// `reduction_block`, each from the identity, combined in order from the identity.
inline constexpr std::int64_t reduction_block = 4096;
inline constexpr int reduction_lanes = 8;

struct Range {
  std::int64_t begin = 0, end = 0;
  [[nodiscard]] std::int64_t size() const { return end - begin; }
};

// map, reduce (to a shared), or an iter_on_vec region. Inputs as the op's operands, outputs as its results.
// `range` counts local indices of the cut dimension; with local dimensions each index stands for `inner` elements.
// A result that is a reduction to a shared is an accumulator: one element that holds the identity (set by the caller
// before the first sub-range) and takes up this range's elements; sub-ranges come in ascending order and begin at
// multiples of reduction_block. Blocks are counted from the range's begin.
// A shared (all dimensions local, or none) is computed with the range 0..1 and `inner` its elements.
//
// `slaves`: the range lies behind the masters of a region whose operators do not all compute on the same indices. Only
// what is kept there runs: maps with a result in state C or PR (one by the pushdown law, law_in_force, hands its
// pre-reduced operand on unchanged) and reductions of PR operands; P operands are not read, P results not written.
struct ElementwiseCall {
  const Op* op = nullptr;
  std::span<const View> inputs;
  std::span<const View> outputs;
  Range range;
  std::int64_t inner = 1;  // elements an index of the op's widest operand
  bool slaves = false;
};

// Which of a product_epilogue region's work a call does for the rows of its range: all of it, the product's result
// going nowhere; the product alone, its result to `waiting`; or the vector work alone, of a result that stands in
// `waiting`.
enum class RowWork : std::uint8_t { all, product, vector };

// mxv or mxvt with a sparse matrix, an mxm region of several, or a product_epilogue region. Inputs and outputs as the
// op's operands and results (the matrix's place in inputs is an empty view). Writes the outputs in `range` of the
// result's space: the reducer's identity where no entry is. A matrix keeps its place and content from its first call
// until the next prepare: a kernel set may keep another form of it. A product_epilogue's results that are reductions to
// a shared are accumulators, as in an ElementwiseCall; the ranges of `all` and `vector` calls are its sub-ranges.
struct ProductCall {
  const Op* op = nullptr;
  const LocalMatrix* matrix = nullptr;
  std::span<const View> inputs;
  std::span<const View> outputs;
  Range range;
  RowWork work = RowWork::all;
  View waiting = {};  // of the product's result; not looked at for `all`
};

// Where a product has several columns (products.h) its operand and result hold as many elements an index, one after
// another; the module tells how many.
//
// A product with a dense matrix cut along its rows (row-major, `rows` local rows of `cols`), an mxm region of several
// with one such matrix, in either direction, or a row_chain region. Inputs and outputs as the op's operands and
// results. mxv: vector over rows, result over cols, overwritten with this part's contribution; mxvt: vector over cols,
// result over rows; of several columns each. A row_chain's results that are reductions to a shared are accumulators, as
// in an ElementwiseCall; a result over rows may stand where an operand of its vector work does.
struct DenseProductCall {
  const Op* op = nullptr;
  View matrix;
  std::span<const View> inputs;
  std::span<const View> outputs;
  std::int64_t rows = 0, cols = 0;
};

// What a kernel set has touched, by the rules of the actual cost (docs/cost.md); the interpreter counts each access.
struct AccessCount {
  std::int64_t read_bytes = 0;
  std::int64_t written_bytes = 0;
};

class KernelSet {
 public:
  virtual ~KernelSet() = default;

  // Makes ready all that the plan needs, before the run: what cannot be done is a UserError here, never a slow path.
  // `module` outlives the kernel set.
  virtual void prepare(const Module& module) = 0;

  virtual void elementwise(const ElementwiseCall& call) = 0;
  virtual void product(const ProductCall& call) = 0;
  virtual void dense_product(const DenseProductCall& call) = 0;

  // Calls for several parts (or for rows of one that do not need each other): none touches what another writes, so that
  // they may run side by side.
  virtual void elementwise_of_parts(std::span<const ElementwiseCall> calls) {
    for (const ElementwiseCall& call : calls) elementwise(call);
  }
  virtual void product_of_parts(std::span<const ProductCall> calls) {
    for (const ProductCall& call : calls) product(call);
  }

  // The copies take the masters' values. No element is the copy of two.
  virtual void copy_masters(const ElementType& element, std::span<const Mirrored> lists) = 0;
  // Each master becomes reducer(master, copy), list after list: one that stands in several lists takes up its copies in
  // their order. Lists of one array of masters follow one another.
  virtual void combine(FnId reducer, std::span<const Mirrored> lists) = 0;

  [[nodiscard]] virtual AccessCount accesses() const = 0;
  // Bytes that it holds beside what it is given and scratch space: a second form of a matrix (docs/cost.md).
  [[nodiscard]] virtual std::int64_t held_bytes() const { return 0; }
};

// Evaluates scalar functions node by node: slow, plain, and the reference. One thread.
[[nodiscard]] std::unique_ptr<KernelSet> make_interpreter_kernels();

}  // namespace kasen
