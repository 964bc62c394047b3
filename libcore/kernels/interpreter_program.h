// The form in which interpreter kernels run a map, a reduction or a region's vector work: the operators in order, over
// cells that hold the elements of one index. Internal to libcore/kernels/interpreter_kernels.cpp.
#pragma once

#include <vector>

#include "libcore/kernels/kernel_set.h"
#include "libcore/laws/laws.h"

namespace kasen::interpreter {

// The positions of a view's elements among the elements of its array at the current index (of a shared: all of them).
struct Places {
  std::vector<size_t> at;    // of each element, in a range that begins at 0
  size_t row = 1, step = 0;  // array elements for each index; distance of two indices of the ranged dimension
  size_t begin = SIZE_MAX;   // the cell with the begin of a range
};

// Elements of one value at the current index (of a shared: all of them), `planes` words each.
struct Cell {
  ValueId value = no_value;
  ValueId array = no_value;  // the array that is read for it: itself, or the array that it is a view of
  Places view;
  ElementType element;
  size_t planes = 1, elements = 1;
  bool shared = false;       // costs nothing and is loaded once for each call
  bool accumulator = false;  // result of a reduction over the cut dimension
  bool on_slaves = false;    // stored for ghosts, too
  int input = -1;            // index among the call's inputs
  bool charged = true;       // its reads and writes are counted
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
  size_t handed_on = SIZE_MAX;  // pushdown: the operand whose ghosts the result keeps
  size_t result = 0;            // index of a cell
  std::vector<size_t> operands;
  Places view;                              // for a view of an array that other works make; then fn is null
  std::vector<std::vector<size_t>> places;  // [operand][element of the result]; for a reduction [0][element of operand]
  Reduction reduction;
};

struct Program {
  std::vector<Cell> cells;
  std::vector<Work> works;
  std::vector<size_t> outputs;  // the cell of each output of the call
  size_t gathered = SIZE_MAX;   // product_epilogue: the cell of the gather's result, the last input
};

// For a product_epilogue region, its vector work. Throws UserError(bad_input) for a reducer without an identity.
[[nodiscard]] Program make_program(const Module& module, const Op& op);

// The number of elements of one index: the product of the local dimensions, in the order of storage.
[[nodiscard]] size_t element_count(const Module& module, const Type& type);
// For each element of `outer`, the element of `inner` that it meets if inner's dimensions are some of outer's.
[[nodiscard]] std::vector<size_t> broadcast(const Module& module, const Type& outer, const Type& inner);

// The position of a view's element `e` at index `index`.
[[nodiscard]] std::int64_t element_at(const Program& program, const Places& view, std::int64_t index, size_t e);

// KernelSet::combine of one list, KernelSet::axis of a scan or a reduce_by, and KernelSet::carry.
void combine(const ScalarFunction& fn, const Mirrored& list);
void scan(const AxisCall& call);
void carry(const ScalarFunction& fn, const CarryCall& call);
void reduce_by(const AxisCall& call);

// acc = reducer(acc, next), plane by plane words.
void reduce_into(const ScalarFunction& fn, std::span<Word> acc, std::span<const Word> next);
// Takes one element into lane (taken % lanes) of element `at`; a full block is folded into `acc`.
void take(const ScalarFunction& fn, Reduction& r, size_t at, std::span<const Word> next, std::span<Word> acc);
// Folds an open block into `acc`.
void flush(const ScalarFunction& fn, Reduction& r, size_t at, std::span<Word> acc);
void reset(Reduction& r, size_t elements);

}  // namespace kasen::interpreter
