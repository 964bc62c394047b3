// What the interpreter kernels run for a map, a reduction or a region's vector work: the operators in order, over cells
// that hold the elements of one index. Internal to libcore/kernels/interpreter_kernels.cpp.
#pragma once

#include <vector>

#include "libcore/kernels/kernel_set.h"
#include "libcore/laws/laws.h"

namespace kasen::interpreter {

// Where the elements of a view are among those that the array has at the index at hand (of a shared: all of them).
struct Places {
  std::vector<size_t> at;    // of each element, in a range that begins at 0
  size_t row = 1, step = 0;  // elements of the array an index; from one index of the ranged dimension to the next
  size_t begin = SIZE_MAX;   // the cell that says where a range begins
};

// Elements of one value at the index at hand (of a shared: all of them), `planes` words each.
struct Cell {
  ValueId value = no_value;
  ValueId array = no_value;  // what is read for it: itself, or what it is a view of
  Places view;
  ElementType element;
  size_t planes = 1, elements = 1;
  bool shared = false;       // costs nothing and is loaded once a call
  bool accumulator = false;  // result of a reduction over the cut dimension
  bool on_slaves = false;    // kept behind the masters, too
  int input = -1;            // place among the call's inputs
  bool charged = true;       // its reads and writes count
  bool used_on_slaves = false;
  std::vector<Word> words;
};

// The identity and lanes of one reduction, for each element of its result.
struct Reduction {
  std::vector<Word> identity;       // one word a plane
  std::vector<Word> lanes;          // [element][lane][plane]
  std::vector<std::int64_t> taken;  // elements in the open block of each element of the result
};

struct Work {
  const Op* op = nullptr;
  const ScalarFunction* fn = nullptr;
  bool reduce = false;
  bool on_slaves = true;        // runs in a call with `slaves`
  size_t handed_on = SIZE_MAX;  // pushdown: the operand whose slaves the result keeps
  size_t result = 0;            // cells
  std::vector<size_t> operands;
  Places view;                              // of one whose array is made by other works; fn is null then
  std::vector<std::vector<size_t>> places;  // [operand][element of the result]; of a reduction [0][element of operand]
  Reduction reduction;
};

struct Program {
  std::vector<Cell> cells;
  std::vector<Work> works;
  std::vector<size_t> outputs;  // cell of each of the call's outputs
  size_t gathered = SIZE_MAX;   // product_epilogue: the cell of the gather's result, an input behind all others
};

// Of a product_epilogue region the vector work. Throws UserError(bad_input) for a reducer without an identity.
[[nodiscard]] Program make_program(const Module& module, const Op& op);

// Local dimensions in the order of storage, and the elements of one index.
[[nodiscard]] size_t element_count(const Module& module, const Type& type);
// For each element of `outer` the element of `inner` that it meets when inner's dimensions are some of outer's.
[[nodiscard]] std::vector<size_t> broadcast(const Module& module, const Type& outer, const Type& inner);

// Where a view's element `e` is at index `index`.
[[nodiscard]] std::int64_t element_at(const Program& program, const Places& view, std::int64_t index, size_t e);

// acc = reducer(acc, next), plane by plane words.
void reduce_into(const ScalarFunction& fn, std::span<Word> acc, std::span<const Word> next);
// Takes one element into lane (taken % lanes) of element `at`; a full block is folded into `acc`.
void take(const ScalarFunction& fn, Reduction& r, size_t at, std::span<const Word> next, std::span<Word> acc);
// Folds an open block into `acc`.
void flush(const ScalarFunction& fn, Reduction& r, size_t at, std::span<Word> acc);
void reset(Reduction& r, size_t elements);

}  // namespace kasen::interpreter
