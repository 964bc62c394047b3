// The plain interpreter of a whole program (interpreter.h): the current values, and one method for each way in which an
// operator runs. Internal to the reference.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/ir/module.h"
#include "libcore/reference/interpreter_work.h"

namespace kasen::reference {

using Words = std::vector<Word>;  // element after element, its planes together
using Shared = std::shared_ptr<const Words>;

// The content of a value: one array, the arrays of a list, or a sparse matrix of the inputs.
struct Held {
  std::vector<Shared> arrays;
  std::shared_ptr<const WholeMatrix> matrix = nullptr;
};

[[nodiscard]] std::int64_t product_of(const std::vector<std::int64_t>& shape);

class Interpreter {
 public:
  Interpreter(const Module& module, const WholeInputs& inputs, const InterpretOptions& options)
      : module_(module), inputs_(inputs), options_(options), work_(module, options.most_work) {
    values_.resize(module.values.size());
    for (const Dimension& dim : module.dims) sizes_.push_back(size_of(dim));
  }
  std::map<std::string, Array> run();

 private:
  void run_op(const Op& op);
  // The methods of column `run` of operators.def.
  void run_constant(const Op& op);
  void run_index(const Op& op);
  void run_size(const Op& op) { set(op.results.at(0), {Word::integer(dim_size(op.dim))}); }
  void run_transition(const Op& op) { held(op.results.at(0)) = held(op.operands.at(0)); }
  void run_relayout(const Op& op);
  void run_make_list(const Op& op);
  void run_get(const Op& op);
  void run_batch(const Op& op);
  void run_put(const Op& op);
  void run_push(const Op& op);
  void run_if_else(const Op& op);
  void run_region(const Op& op);
  void run_nothing(const Op&) {}
  void run_while_loop(const Op& op);
  void run_for_loop(const Op& op);
  void run_input(const Op& op);
  void run_output(const Op& op);
  void run_map(const Op& op);
  // Takes each element of the result from its position in the array.
  void run_view(const Op& op);
  void run_reduce(const Op& op);
  void run_product(const Op& op);
  void run_sparse(const Op& op, const WholeMatrix& matrix, Words& made) const;
  void run_dense(const Op& op, Words& made) const;
  void run_linear(const Op& op);
  void run_scan(const Op& op);
  void run_sort(const Op& op);
  void run_take(const Op& op);
  void run_reduce_by(const Op& op);
  void run_slice(const Op& op);
  void run_concat(const Op& op);
  void run_reshape(const Op& op);
  void run_pick(const Op& op);
  void run_observe(const Op& op);
  void run_within(const Op& op);
  // Index `index` along an operand's dimensions that the operator works along, which have `size` indices.
  struct Place {
    size_t operand = 0;
    std::int64_t size = 0, index = 0;
  };
  template <class Line>
  Words rearranged(const Op& op, const Line& line);
  // Calls use(first, apart, length) for each line of the array: its first element, and elements between neighbours.
  template <class Use>
  void for_lines(const Op& op, const Use& use) const;
  void run_contract(const Op& op);
  void run_fold(const Op& op);
  void run_entries(const Op& op, const WholeMatrix& matrix);
  void run_align(const Op& op);
  void run_meet(const Op& op);
  void run_place(const Op& op);
  [[nodiscard]] std::vector<std::span<const Word>> arguments_at(const Op& op, const WholeMatrix& matrix, size_t e,
                                                                Words& entry) const;

  [[nodiscard]] std::int64_t size_of(const Dimension& dim) const;
  static bool params_known(const Block& block, const std::string& name);
  std::int64_t dim_size(DimId dim) const;
  std::vector<std::int64_t> shape_of(const std::vector<DimId>& dims) const;
  std::int64_t count_of(ValueId v) const { return product_of(shape_of(module_.type(v).dims)); }
  size_t planes_of(ValueId v) const { return static_cast<size_t>(module_.type(v).element.planes()); }
  const Words& words(ValueId v) const;
  void set(ValueId v, Words made) { values_[v] = Held{{std::make_shared<const Words>(std::move(made))}, nullptr}; }
  std::int64_t integer(ValueId v) const { return words(v).at(0).i; }
  // Returns what the block yields.
  std::vector<Held> run_block(const Block& block);
  void bind(const std::vector<ValueId>& names, size_t first, const std::vector<Held>& held) {
    for (size_t i = 0; i < held.size(); ++i) values_[names.at(i + first)] = held[i];
  }
  std::vector<Held> operands_from(const Op& op, size_t first) const;
  [[noreturn]] static void no_input(const Op& op) {
    fail(ExitStatus::bad_input, fmt::format("no input '{}' of the type that the program declares", op.name), "", "",
         op.where);
  }
  static void append_element(const Array& array, std::int64_t i, Words& to);
  // Row-major strides of `dims` along the dimensions of `outer`: 0 for dimensions that `dims` lacks. The last ones
  // match first, so that a vector over N matches the columns of an N by N matrix.
  std::vector<std::int64_t> strides_in(const std::vector<DimId>& outer, const std::vector<DimId>& dims) const;
  static std::int64_t offset(const std::vector<std::int64_t>& index, const std::vector<std::int64_t>& strides) {
    return std::inner_product(index.begin(), index.end(), strides.begin(), std::int64_t{0});
  }
  std::span<const Word> element(ValueId v, std::int64_t at) const {
    const size_t planes = planes_of(v);
    return std::span(words(v)).subspan(static_cast<size_t>(at) * planes, planes);
  }
  Words identities(FnId reducer, std::int64_t count, const Location& where) const;
  // The index of the k-th of `count` elements in the order in which they are combined.
  [[nodiscard]] std::int64_t nth(std::int64_t k, std::int64_t count) const;
  template <class Take>
  void in_order(std::int64_t count, const Take& take) const {
    for (std::int64_t k = 0; k < count; ++k) take(nth(k, count));
  }
  static void set_index(std::vector<std::int64_t>& index, const std::vector<std::int64_t>& shape, std::int64_t place) {
    for (size_t d = shape.size(); d-- > 0; place /= shape[d]) index[d] = place % shape[d];
  }
  // acc[at] = reducer(acc[at], next)
  void fold(FnId reducer, Words& acc, std::int64_t at, std::span<const Word> next) const;
  void round_otherwise(const ElementType& element, std::span<Word> here) const;
  // Multiplies every column at the operand's index `from` into the one at the result's index `to`.
  void multiply_into(const Op& op, Words& made, std::int64_t from, std::int64_t to, std::span<const Word> entry) const;
  [[nodiscard]] std::int64_t columns_of(const Op& product) const {
    const std::vector<std::int64_t> shape = shape_of(module_.type(product.operands[0]).dims);
    return std::accumulate(shape.begin() + 1, shape.end(), std::int64_t{1}, std::multiplies<>());
  }
  // The words of operand `v` that the function sees at an index: an element, or all columns there.
  std::span<const Word> point(ValueId v, std::int64_t index) const;
  // The positions of nonzeros, by ascending index of one axis, in the order in which they are combined.
  std::vector<size_t> ascending(const std::vector<std::int64_t>& from) const;
  Held& held(ValueId v) { return values_.at(v); }
  // The position that operand 1 of a list operator names.
  size_t list_place(const Op& op);

  const Module& module_;
  const WholeInputs& inputs_;
  const InterpretOptions& options_;
  mutable std::uint64_t noise_ = static_cast<std::uint64_t>(options_.order);
  InterpreterWork work_;
  IdMap<DimId, std::int64_t> sizes_;
  IdMap<ValueId, Held> values_;
  std::map<std::string, Array> outputs_;
};

}  // namespace kasen::reference
