/// \file
/// The interface for computation on one worker. libcore implements it by the plain interpreter, libkernels by generated
/// code. Kernels see local storage only. They run on sub-ranges, so work that needs no ghost overlaps with an exchange.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libcore/axis/axis.h"
#include "libcore/data/data.h"
#include "libcore/data/mirrored.h"
#include "libcore/ir/module.h"
#include "libcore/kernels/form_store.h"
#include "libcore/kernels/numbering.h"
#include "libcore/linear/linear.h"
#include "libcore/stream/row_gate.h"

namespace kasen {

struct MadeChoice;  // choices.h

/// The order of reductions is fixed, for every kernel set, thread count and vector width (DESIGN section 6). Elements
/// are taken in blocks of `reduction_block`. Within a block, element i goes to lane i % reduction_lanes. Each lane
/// starts from the reducer's identity and takes its elements in order. Lanes l are combined with l+4, then l+2, then
/// l+1. Blocks are combined in order onto the accumulator. A row of a product takes its nonzeros in order, in segments
/// of `reduction_block`. Each segment starts from the identity, and segments are combined in order from the identity.
inline constexpr std::int64_t reduction_block = 4096;
inline constexpr int reduction_lanes = 8;

struct Range {
  std::int64_t begin = 0, end = 0;
  [[nodiscard]] std::int64_t size() const { return end - begin; }
};

/// map, reduce (to a shared), or an iter_on_vec region. Inputs are the op's operands, outputs are its results. `range`
/// counts local indices of the cut dimension; with local dimensions each index stands for `inner` elements. A result
/// that is a reduction to a shared is an accumulator of one element. The caller sets it to the identity before the
/// first sub-range, and each call adds its range's elements. Sub-ranges come in ascending order and begin at multiples
/// of reduction_block. Blocks are counted from the begin of the range. A shared (all dimensions local, or none) is
/// computed with the range 0..1 and `inner` as the number of its elements.
///
/// `slaves`: the range lies after the owned elements, in a region whose operators do not all compute on the same
/// indices. Only operators whose values are stored there run: maps with a result in state C or PR, and reductions of PR
/// operands. A map by the pushdown law (law_in_force) hands its pre-reduced operand on unchanged. P operands are not
/// read, and P results are not written.
struct ElementwiseCall {
  const Op* op = nullptr;
  std::span<const View> inputs;
  std::span<const View> outputs;
  Range range;
  std::int64_t inner = 1;  ///< elements for each index of the op's widest operand
  bool slaves = false;
};

/// Pieces of generated code, a kernel each: those that were compiled, and those that an earlier compilation left.
struct KernelCounts {
  std::int64_t made = 0, kept = 0;
};

/// The part of a product_epilogue region's work that a call does for the rows of its range. `all` does not store the
/// product's result. `product` computes only the product and writes its result to `waiting`. `vector` does only the
/// vector work, on a result in `waiting`.
enum class RowWork : std::uint8_t { all, product, vector };

/// mxv or mxvt with a sparse matrix, an mxm region of several, or a product_epilogue region. Inputs and outputs are the
/// op's operands and results (the view for the matrix is empty). Writes the outputs in `range` of the result's space,
/// with the reducer's identity where there is no nonzero. A matrix keeps its address and content from take_matrix until
/// the next prepare, so a kernel set may keep another form of it. A product_epilogue's results that are reductions to a
/// shared are accumulators, as in an ElementwiseCall. The ranges of `all` and `vector` calls are their sub-ranges.
struct ProductCall {
  const Op* op = nullptr;
  const LocalMatrix* matrix = nullptr;
  std::span<const View> inputs;
  std::span<const View> outputs;
  Range range;
  RowWork work = RowWork::all;
  View waiting = {};  ///< of the product's result; not used for `all`
  /// The rows would be computed at once if the matrix were there at once: what waits is not counted as read and
  /// written.
  bool by_pieces = false;
};

/// If a product has several columns (products.h), its operand and result hold as many elements for each index, one
/// after another. The module states their number.
///
/// A product with a dense matrix cut along its rows (row-major, `rows` local rows of `cols`), or a row_chain region. Or
/// an mxm region of several products with one such matrix, in either direction. Inputs and outputs are the op's
/// operands and results. An mxv takes a vector over rows and overwrites a result over cols with this part's
/// contribution. An mxvt takes a vector over cols; its result is over rows. With several columns, this holds for each
/// column. A product with a third operand (is_onto) reduces its terms onto what the result holds, which the caller put
/// there; that operand's view is not read. A row_chain's results that are reductions to a shared are accumulators, as
/// in an ElementwiseCall. A result over rows may alias an operand of its vector work.
struct DenseProductCall {
  const Op* op = nullptr;
  View matrix;
  std::span<const View> inputs;
  std::span<const View> outputs;
  std::int64_t rows = 0, cols = 0;
  /// If some arrays over the rows are not in memory as a whole; not owned. Only where rows_at_once() is not 0.
  RowGate* gate = nullptr;
};

/// A region of rows (libcore/rows/row_region.h). Inputs and outputs are the op's operands and results. Results that are
/// totals are accumulators, as in an ElementwiseCall: each share of the rows begins with the identity, goes block by
/// block, and the shares are combined in order.
struct RowsCall {
  const Op* op = nullptr;
  std::span<const View> inputs;
  std::span<const View> outputs;
  std::int64_t rows = 0;
  RowGate* gate = nullptr;  ///< if some arrays of rows are not in memory as a whole; threads pass it share by share
  const LocalMatrix* matrix = nullptr;  ///< the sparse matrix that it goes over, row by row
  std::int64_t first = 0;  ///< rows before it are those of the calls before this one, which goes on with their totals
  [[nodiscard]] std::int64_t count() const { return rows - first; }
  /// Nonzeros of the rows that are made.
  [[nodiscard]] std::int64_t entries() const {
    if (matrix == nullptr) return 0;
    return matrix->pointers[static_cast<std::size_t>(rows)] - matrix->pointers[static_cast<std::size_t>(first)];
  }
};

/// What the parts of lines before this one come to, combined into it: element (o, k, i) of `array` becomes f(element
/// (o, i) of `carries`, it), for the indices of lines (AxisLines).
struct CarryCall {
  FnId fn = no_fn;
  View carries, array;
  AxisLines lines;
};

/// Bytes that a kernel set has touched, by the rules of the actual cost (docs/cost.md). The interpreter counts
/// accesses.
struct AccessCount {
  std::int64_t read_bytes = 0;
  std::int64_t written_bytes = 0;
};

/// The name of a matrix in a store of forms. Null: there is no store.
struct KeptMatrix {
  FormStore* forms = nullptr;
  FormName name = {};
};

class KernelSet {
 public:
  virtual ~KernelSet() = default;

  /// A kernel set of the same kind and options, which is not prepared.
  [[nodiscard]] virtual std::unique_ptr<KernelSet> another() const = 0;
  /// The same, but it works on the thread that calls it.
  [[nodiscard]] virtual std::unique_ptr<KernelSet> on_one_thread() const { return another(); }
  [[nodiscard]] virtual int threads() const { return 1; }
  /// Calls body(thread, piece) for each piece, on all threads. Pieces do not touch each other's data.
  virtual void run_pieces(std::int64_t pieces, const std::function<void(int, std::int64_t)>& body) {
    for (std::int64_t piece = 0; piece < pieces; ++piece) body(0, piece);
  }

  /// Prepares everything that the plan needs, before the run. Anything unsupported is a UserError here, never a slow
  /// path. `module` outlives the kernel set.
  virtual void prepare(const Module& module) = 0;
  /// Called for each matrix that `op` multiplies on a part, after prepare and before the first call. Makes the form
  /// that the kernel set holds of it, if any, or takes it from a store.
  virtual void take_matrix(const Op& /*op*/, const LocalMatrix& /*matrix*/, const KeptMatrix& /*kept*/ = {}) {}

  virtual void elementwise(const ElementwiseCall& call) = 0;
  virtual void product(const ProductCall& call) = 0;
  virtual void dense_product(const DenseProductCall& call) = 0;
  /// The most rows that each thread holds at once of a call with a gate; 0: the call takes none. Only op, rows and cols
  /// are read.
  [[nodiscard]] virtual std::int64_t rows_at_once(const DenseProductCall& /*call*/) const { return 0; }
  virtual void rows(const RowsCall& call) = 0;
  virtual void linear(const LinearCall& call) { run_linear(call); }
  /// scan, sort, argsort, take or reduce_by (grouping.h), onto identities in its result. Throws UserError (bad_input)
  /// for a place of a take outside of its array, and a key that its dimension lacks.
  virtual void axis(const AxisCall& call) = 0;
  /// By the function of a scan.
  virtual void carry(const CarryCall& call) = 0;

  /// Calls for several parts, or for independent rows of one part. No call touches data that another writes, so they
  /// may run side by side.
  virtual void elementwise_of_parts(std::span<const ElementwiseCall> calls) {
    for (const ElementwiseCall& call : calls) elementwise(call);
  }
  virtual void product_of_parts(std::span<const ProductCall> calls) {
    for (const ProductCall& call : calls) product(call);
  }

  /// No element is the target of two, and none is the source of one and the target of another.
  virtual void copy_places(const ElementType& element, std::span<const PlaceCopy> copies) {
    for (const PlaceCopy& copy : copies) copy_some(element, copy, 0, copy.count());
  }
  /// The copies take the values of the owned elements. No element is a copy of two.
  virtual void copy_masters(const ElementType& element, std::span<const Mirrored> lists) = 0;
  /// Each owned element becomes reducer(owned, copy), list after list. An element in several lists takes its copies in
  /// the order of the lists. Lists of one array of owned elements are adjacent.
  virtual void combine(FnId reducer, std::span<const Mirrored> lists) = 0;

  [[nodiscard]] virtual AccessCount accesses() const = 0;
  /// Bytes that it holds beside its arguments and scratch memory: a second form of a matrix (docs/cost.md).
  [[nodiscard]] virtual std::int64_t held_bytes() const { return 0; }
  /// What it takes the processor for, for reports: "znver4, 512-bit vectors, ...". Empty: any.
  [[nodiscard]] virtual std::string processor() const { return {}; }
  /// Counts those of all calls of `prepare`, also of sets that came from this one.
  [[nodiscard]] virtual KernelCounts kernels() const { return {}; }
  /// The choices that it made by trial.
  [[nodiscard]] virtual std::vector<MadeChoice> choices() const;
};

/// Evaluates scalar functions node by node on one thread. It is slow, plain, and the reference.
[[nodiscard]] std::unique_ptr<KernelSet> make_interpreter_kernels();

}  // namespace kasen
