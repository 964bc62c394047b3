// The results of the emitters for one operator or region, and the facts with which the skeletons run it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "libcore/ir/module.h"
#include "libcore/kernels/kernel_set.h"

namespace kasen {

class Jit;  // only emitters know LLVM

// Signatures of generated functions. `arguments` is the table of ArgumentLayout.
using ElementwiseFunction = void (*)(const std::int64_t* arguments, std::int64_t begin, std::int64_t end,
                                     std::byte* partials, std::byte* scratch);
using RowsFunction = void (*)(const std::int64_t* arguments, std::int64_t begin, std::int64_t end, std::byte* scratch);
// `count` rows of a SortedRows window: their numbers, from `first` on, and lengths; their slices begin at `entry`. If a
// row's nonzeros come block by block, `begun` and `more` (0 or 1) state whether there are blocks before and blocks
// behind.
using WindowFunction = void (*)(const std::int64_t* arguments, const std::uint16_t* order, const std::uint16_t* lengths,
                                std::int64_t first, std::int64_t entry, std::int64_t count, std::byte* scratch,
                                std::int64_t begun, std::int64_t more);
// A slice of the second form whose rows are segments of one row: the result of each lane's, from the identity, as
// partials.
using SliceFunction = void (*)(const std::int64_t* arguments, const std::uint16_t* lengths, std::int64_t entry,
                               std::byte* partials, std::byte* scratch);
using SegmentFunction = void (*)(const std::int64_t* arguments, std::int64_t begin, std::int64_t end,
                                 std::byte* partials, std::byte* scratch);
// accumulator = R(accumulator, partial) for `count` partials `stride` bytes apart.
using FoldFunction = void (*)(const std::int64_t* arguments, const std::byte* partials, std::int64_t count,
                              std::int64_t stride, std::byte* scratch);
// target[indices[k]] = R(target[indices[k]], packed[k]) for begin <= k < end.
using CombineFunction = void (*)(const std::int64_t* arguments, const std::int32_t* indices, std::int64_t begin,
                                 std::int64_t end, std::byte* scratch);

// Reductions of many results by the order of kernel_set.h, eight results side by side: result k, begin <= k < end, is
// element k * result_apart, and takes the elements k * apart + step * along for step < steps, in their order. `cached`:
// 1 if caches hold the elements, else 0, on which no result depends.
struct ReductionPlaces {
  std::int64_t apart = 0, along = 0, steps = 0, result_apart = 0, cached = 0;
};
using ReductionFunction = void (*)(const std::int64_t* arguments, const ReductionPlaces* places, std::int64_t begin,
                                   std::int64_t end, std::byte* scratch);

// Scans of lines begin <= j < end: element k < length of line j, in both arrays, is first + j * apart + k * step. The
// second of two functions for each scan takes lines that lie side by side, apart = 1, a row of elements k at a time.
struct ScanPlaces {
  std::int64_t first = 0, apart = 0, step = 0, length = 0;
};
using ScanFunction = void (*)(const std::int64_t* arguments, const ScanPlaces* places, std::int64_t begin,
                              std::int64_t end, std::byte* scratch);

// Carries of a scan, combined into elements (KernelSet::carry). Of one line: elements first + j, begin <= j < end, each
// with carry `carry`. Of lines side by side: of each of `rows` rows, `step` elements apart, element first + j with
// carry carry + j.
struct CarryPlaces {
  std::int64_t first = 0, carry = 0, step = 0, rows = 0;
};
using CarryFunction = void (*)(const std::int64_t* arguments, const CarryPlaces* places, std::int64_t begin,
                               std::int64_t end, std::byte* scratch);

struct ScanKernels {
  ScanFunction lines = nullptr, rows = nullptr;
  CarryFunction carry_line = nullptr, carry_rows = nullptr;
};
class CodeImage;
[[nodiscard]] ScanKernels find_scan(const CodeImage& code, const std::string& name);  // of emit_scan

// The argument table of a kernel, in 64-bit words. Each component of each array has two words (address of the first
// plane, bytes from plane to plane); then comes all else that the kernel takes. The skeleton fills it, the code reads
// it.
class ArgumentLayout {
 public:
  int add_array(const ElementType& element);  // its first word
  int add_word();
  [[nodiscard]] int words() const { return words_; }

 private:
  int words_ = 0;
};
// Bytes from one plane of an array of that many elements to the next.
[[nodiscard]] std::int64_t plane_step(Scalar scalar, std::int64_t capacity);
// Appends the words of one array whose element `first` is the kernel's element 0.
void append_array(std::vector<std::int64_t>& words, const ElementType& element, const View& view);

// How an operand is found from the index of an element.
enum class Reach : std::uint8_t {
  whole,      // it has all dimensions of the loop: consecutive
  shared,     // one element for all
  some,       // some of the dimensions: broadcast over the others
  elsewhere,  // only views of it are read
};

struct ReducedValue {
  int result = 0;  // position among the op's results
  FnId reducer = no_fn;
  ElementType element;
  std::int64_t slot = 0;  // bytes from the start of a block's partial
};

// A fused loop over elements: map, reduce, iter_on_vec, or the vector part of a product_epilogue.
struct ElementwiseKernel {
  std::string symbol, streamed_symbol;  // the second may be empty
  ElementwiseFunction function = nullptr;
  ElementwiseFunction streamed = nullptr;  // stores past the caches: begin a multiple of 8, results 64-byte aligned
  std::vector<ElementType> inputs;         // operands, then (epilogue) the products' results
  std::vector<Reach> reach;                // of each input
  std::vector<std::int64_t> counted;       // bytes of an element of each input; 0: shared, or counted already; views
  std::vector<std::vector<DimId>> counted_dims;  // the local dimensions of each input, and of each view
  std::vector<int> stored;                       // results that are arrays
  std::vector<ElementType> stored_elements;
  std::vector<ReducedValue> reduced;
  std::vector<DimId> local_dims;   // of the loop, in order, then those of each view's array; the last words
  std::int64_t partial_bytes = 0;  // of one block
};

// Whether a vector of these can be stored past the caches.
[[nodiscard]] inline bool may_stream(Scalar scalar) { return scalar_bytes(scalar) >= 4; }
// Bytes of an element that can be stored past the caches.
[[nodiscard]] inline std::int64_t streamed_bytes(const ElementType& element) {
  std::int64_t bytes = 0;
  for (const Component& c : element.components) {
    if (may_stream(c.scalar)) bytes += c.planes() * scalar_bytes(c.scalar);
  }
  return bytes;
}

// Products with one matrix.
struct ProductKernel {
  std::string rows_symbol, segment_symbol, window_symbol, slice_symbol;  // the last three may be empty
  RowsFunction rows = nullptr;  // of a dense matrix, too: the table then has strides in place of pointers and indices
  SegmentFunction segment = nullptr;
  WindowFunction window = nullptr;
  SliceFunction slice = nullptr;
  struct Product {
    int operand = 0;  // position of its vector among the inputs
    ElementType vector, result;
    FnId multiplier = no_fn, reducer = no_fn;
    bool onto = false;  // reduced onto what the result holds: of a dense matrix alone
    std::vector<Word> identity;
    std::int64_t slot = 0;  // bytes from the start of a segment's partial
  };
  std::vector<Product> products;  // in the order of results
  ElementType matrix;             // null: no values
  bool several = false;           // columns: there is only `rows`
  std::int64_t columns = 1;
  std::int64_t partial_bytes = 0;
};

// A loop of the elements of `ops` (map, reduce, apply), emitted under `name`.
struct LoopBody {
  std::vector<const Op*> ops;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;  // no_value: not written
  Location where;
  std::map<ValueId, ValueId> same;  // values that are equal to another one here
  // Input `row_value` is no array: it is computed, eight rows at a time, as the result of product 0 of `rows` from a
  // matrix in slices. The table then begins with the product's table, and the address of the rows' lengths.
  const ProductKernel* rows = nullptr;
  ValueId row_value = no_value;
  bool streamed = false;  // whole vectors of results are stored past the caches
  // Inputs that lie along the loop, of which elements so far behind those at hand are brought to the second cache.
  std::vector<ValueId> asked;
  std::int64_t ahead = 0;
};
// The values that its operators read, and its outputs.
[[nodiscard]] std::set<ValueId> used_values(const LoopBody& body);
[[nodiscard]] ElementwiseKernel emit_elementwise(Jit& jit, const Module& module, const LoopBody& body,
                                                 const std::string& name, std::int64_t& scratch_bytes);
struct ProductBody {
  std::vector<const Op*> products;
  std::vector<int> operands;  // position of each product's vector among the inputs
  Location where;
  bool dense = false;     // result o, step i meet the element o * outer + i * inner, i < count
  bool repeated = false;  // in a loop: a matrix sorted for it pays
};
[[nodiscard]] ProductKernel emit_product(Jit& jit, const Module& module, const ProductBody& body,
                                         const std::string& name, std::int64_t& scratch_bytes);
void emit_fold(Jit& jit, const ScalarFunction& reducer, const std::string& name, std::int64_t& scratch_bytes);
void emit_combine(Jit& jit, const ScalarFunction& reducer, const std::string& name, std::int64_t& scratch_bytes);
// The functions of ScanKernels.
void emit_scan(Jit& jit, const ScalarFunction& fn, const std::string& name, std::int64_t& scratch_bytes);
[[nodiscard]] inline std::string scan_rows_name(const std::string& name) { return name + "_rows"; }
[[nodiscard]] inline std::string carry_line_name(const std::string& name) { return name + "_carry"; }
[[nodiscard]] inline std::string carry_rows_name(const std::string& name) { return name + "_carry_rows"; }
// Elements are scalars or tuples of these.
void emit_reduction(Jit& jit, const ScalarFunction& reducer, const std::vector<Word>& identity, const std::string& name,
                    std::int64_t& scratch_bytes);

// A reducer's identity; UserError at `where` if it has none.
[[nodiscard]] std::vector<Word> require_identity(const Module& module, FnId reducer, const Location& where);
// Throws UserError(bad_input) at `where`: "no kernel for ...".
[[noreturn]] void refuse(std::string what, std::string why, const Location& where);

}  // namespace kasen
