#include "libcore/reference/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "libcore/analysis/value_ranges.h"
#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/ir/array_views.h"
#include "libcore/ir/entries.h"
#include "libcore/laws/laws.h"
#include "libcore/reference/interpreter_work.h"

namespace kasen {
namespace {

using Words = std::vector<Word>;  // element after element, its planes together
using Shared = std::shared_ptr<const Words>;

// What a name stands for: one array, the arrays of a list, or a sparse matrix of the inputs.
struct Held {
  std::vector<Shared> arrays;
  const WholeMatrix* matrix = nullptr;
};

std::int64_t product_of(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count = checked_mul(count, size, "an array's size");
  return count;
}

class Interpreter {
 public:
  Interpreter(const Module& module, const WholeInputs& inputs, const InterpretOptions& options)
      : module_(module), inputs_(inputs), options_(options), work_(module, options.most_work) {
    values_.resize(module.values.size());
    for (const Dimension& dim : module.dims) sizes_.push_back(size_of(dim));
  }

  std::map<std::string, Array> run() {
    for (const auto& [name, words] : inputs_.params) {
      if (params_known(module_.body, name)) continue;
      fail(ExitStatus::usage, fmt::format("the program has no parameter '{}'", name));
    }
    run_block(module_.body);
    return std::move(outputs_);
  }

 private:
  [[nodiscard]] std::int64_t size_of(const Dimension& dim) const {
    const auto it = inputs_.dims.find(dim.name);
    if (it == inputs_.dims.end()) return dim.size;
    if (dim.size >= 0 && dim.size != it->second) {
      fail(ExitStatus::bad_input, fmt::format("dimension '{}' has {} indices, not {}", dim.name, it->second, dim.size));
    }
    return it->second;
  }

  static bool params_known(const Block& block, const std::string& name) {
    return std::any_of(block.ops.begin(), block.ops.end(), [&](const Op& op) {
      if (op.code == OpCode::param && op.name == name) return true;
      return std::any_of(op.blocks.begin(), op.blocks.end(), [&](const Block& b) { return params_known(b, name); });
    });
  }

  std::int64_t dim_size(DimId dim) const {
    const std::int64_t size = sizes_.at(static_cast<size_t>(dim));
    if (size < 0) {
      fail(ExitStatus::bad_input, fmt::format("dimension '{}' has no size", module_.dim(dim).name),
           "no input gives one and the program leaves it open");
    }
    return size;
  }

  std::vector<std::int64_t> shape_of(const std::vector<DimId>& dims) const {
    std::vector<std::int64_t> shape;
    for (const DimId d : dims) shape.push_back(dim_size(d));
    return shape;
  }
  std::int64_t count_of(ValueId v) const { return product_of(shape_of(module_.type(v).dims)); }
  size_t planes_of(ValueId v) const { return static_cast<size_t>(module_.type(v).element.planes()); }

  const Words& words(ValueId v) const {
    const Held& held = values_.at(static_cast<size_t>(v));
    if (held.arrays.size() != 1) throw InternalError("a value that is no single array is read as one");
    return *held.arrays[0];
  }
  void set(ValueId v, Words made) {
    values_[static_cast<size_t>(v)] = Held{{std::make_shared<const Words>(std::move(made))}, nullptr};
  }
  std::int64_t integer(ValueId v) const { return words(v).at(0).i; }

  // ---- blocks and control

  // Returns what the block yields.
  std::vector<Held> run_block(const Block& block) {
    for (const Op& op : block.ops) {
      if (op.code != OpCode::yield) {
        run_op(op);
        continue;
      }
      std::vector<Held> yielded;
      for (const ValueId v : op.operands) yielded.push_back(values_[static_cast<size_t>(v)]);
      return yielded;
    }
    return {};
  }

  void bind(const std::vector<ValueId>& names, size_t first, const std::vector<Held>& held) {
    for (size_t i = 0; i < held.size(); ++i) values_[static_cast<size_t>(names.at(i + first))] = held[i];
  }

  std::vector<Held> operands_from(const Op& op, size_t first) const {
    std::vector<Held> held;
    for (size_t i = first; i < op.operands.size(); ++i) held.push_back(values_[static_cast<size_t>(op.operands[i])]);
    return held;
  }

  void run_while(const Op& op) {
    const Block& body = op.blocks.at(0);
    std::vector<Held> carried = operands_from(op, 0);
    while (carried.at(static_cast<size_t>(op.test)).arrays.at(0)->at(0).i != 0) {
      bind(body.args, 0, carried);
      carried = run_block(body);
    }
    bind(op.results, 0, carried);
  }

  void run_for(const Op& op) {
    const Block& body = op.blocks.at(0);
    std::vector<Held> carried = operands_from(op, 2);
    const std::int64_t lo = integer(op.operands[0]), hi = integer(op.operands[1]);
    for (std::int64_t k = 0; k < hi - lo; ++k) {
      set(body.args.at(0), {Word::integer(op.down ? hi - 1 - k : lo + k)});
      bind(body.args, 1, carried);
      carried = run_block(body);
    }
    bind(op.results, 0, carried);
  }

  void run_op(const Op& op) {
    switch (row(op.code).group) {
      case OpGroup::source:
        return run_source(op);
      case OpGroup::vector:
        return is_view(op) ? run_view(op) : op.code == OpCode::map ? run_map(op) : run_reduce(op);
      case OpGroup::product:
        return run_product(op);
      case OpGroup::entries:
        return run_fold(op);
      case OpGroup::shared:
        return run_map(op);
      case OpGroup::transition:
        values_[static_cast<size_t>(op.results.at(0))] = values_[static_cast<size_t>(op.operands.at(0))];
        return;
      case OpGroup::list:
        return run_list(op);
      case OpGroup::control:
        return run_control(op);
      case OpGroup::end:
        return run_output(op);
    }
  }

  void run_control(const Op& op) {
    if (op.code == OpCode::while_loop) return run_while(op);
    if (op.code == OpCode::for_loop) return run_for(op);
    if (op.code == OpCode::region) return bind(op.results, 0, run_block(op.blocks.at(0)));
    bind(op.results, 0, run_block(op.blocks.at(integer(op.operands.at(0)) != 0 ? 0 : 1)));
  }

  // ---- sources and outputs

  void run_source(const Op& op) {
    const ValueId v = op.results.at(0);
    if (op.code == OpCode::input) return run_input(op);
    if (op.code == OpCode::size) return set(v, {Word::integer(dim_size(op.dim))});
    const std::int64_t count = count_of(v);
    work_.copies(count, static_cast<std::int64_t>(planes_of(v)));
    Words made;
    if (op.code == OpCode::index) {
      for (std::int64_t i = 0; i < count; ++i) made.push_back(Word::integer(i));
      return set(v, std::move(made));
    }
    const auto given = inputs_.params.find(op.name);
    const bool is_given = op.code == OpCode::param && given != inputs_.params.end();
    const Words& constant = is_given ? given->second : op.literal;
    if (op.code == OpCode::param) require_in_range(module_, op, constant);
    if (constant.size() == static_cast<size_t>(count) * planes_of(v)) return set(v, constant);
    for (std::int64_t i = 0; i < count; ++i) made.insert(made.end(), constant.begin(), constant.end());
    set(v, std::move(made));
  }

  void run_input(const Op& op) {
    const ValueId v = op.results.at(0);
    const Type& type = module_.type(v);
    if (type.sparse) {
      const auto it = inputs_.matrices.find(op.name);
      if (it == inputs_.matrices.end()) no_input(op);
      values_[static_cast<size_t>(v)] = Held{{}, &it->second};
      return;
    }
    const auto it = inputs_.arrays.find(op.name);
    if (it == inputs_.arrays.end() || it->second.element != type.element || it->second.count != count_of(v)) {
      no_input(op);
    }
    work_.copies(it->second.count, type.element.planes());
    Words made;
    for (std::int64_t i = 0; i < it->second.count; ++i) append_element(it->second, i, made);
    set(v, std::move(made));
  }

  [[noreturn]] static void no_input(const Op& op) {
    fail(ExitStatus::bad_input, fmt::format("no input '{}' of the type that the program declares", op.name), "", "",
         op.where);
  }

  static void append_element(const Array& array, std::int64_t i, Words& to) {
    for (std::int64_t p = 0; p < array.element.planes(); ++p) {
      const Scalar s = array.element.plane_scalar(p);
      to.push_back(load_word(s, array.plane(p) + i * scalar_bytes(s)));
    }
  }

  void run_output(const Op& op) {
    const ValueId v = op.operands.at(0);
    Array made(module_.type(v).element, count_of(v));
    const Words& from = words(v);
    const std::int64_t planes = made.element.planes();
    for (std::int64_t i = 0; i < made.count; ++i) {
      for (std::int64_t p = 0; p < planes; ++p) {
        const Scalar s = made.element.plane_scalar(p);
        store_word(s, made.plane(p) + i * scalar_bytes(s), from[static_cast<size_t>(i * planes + p)]);
      }
    }
    outputs_.insert_or_assign(op.name, std::move(made));
  }

  // ---- element-wise

  // Row-major strides of `dims` seen from the dimensions of `outer`: 0 where it does not have them. The last ones match
  // first, so that a vector over N meets the columns of an N by N matrix.
  std::vector<std::int64_t> strides_in(const std::vector<DimId>& outer, const std::vector<DimId>& dims) const {
    std::vector<std::int64_t> strides(outer.size(), 0);
    std::int64_t stride = 1;
    size_t limit = outer.size();
    for (size_t i = dims.size(); i-- > 0;) {
      while (limit > 0 && outer[limit - 1] != dims[i]) --limit;
      if (limit == 0) throw InternalError("an operand has a dimension that the result lacks");
      strides[--limit] = stride;
      stride *= dim_size(dims[i]);
    }
    return strides;
  }

  static std::int64_t offset(const std::vector<std::int64_t>& index, const std::vector<std::int64_t>& strides) {
    return std::inner_product(index.begin(), index.end(), strides.begin(), std::int64_t{0});
  }

  std::span<const Word> element(ValueId v, std::int64_t at) const {
    const size_t planes = planes_of(v);
    return std::span(words(v)).subspan(static_cast<size_t>(at) * planes, planes);
  }

  void run_map(const Op& op) {
    const ValueId v = op.results.at(0);
    const ScalarFunction& fn = module_.fn(op.fns.at(0));
    const std::vector<DimId>& dims = module_.type(v).dims;
    const auto shape = shape_of(dims);
    std::vector<std::vector<std::int64_t>> strides;
    for (const ValueId from : op.operands) strides.push_back(strides_in(dims, module_.type(from).dims));
    const std::int64_t count = product_of(shape);
    const size_t planes = planes_of(v);
    work_.calls(count, op.fns[0]);
    Words made(static_cast<size_t>(count) * planes);
    std::vector<std::int64_t> index(shape.size(), 0);
    std::vector<std::span<const Word>> args(op.operands.size());
    for (std::int64_t i = 0; i < count; ++i, next_index(index, shape)) {
      for (size_t k = 0; k < args.size(); ++k) args[k] = element(op.operands[k], offset(index, strides[k]));
      evaluate(fn, args, std::span(made).subspan(static_cast<size_t>(i) * planes, planes));
    }
    set(v, std::move(made));
  }

  // Element by element of the result, where the array has it.
  void run_view(const Op& op) {
    const ValueId v = op.results.at(0), from = viewed(op);
    const auto shape = shape_of(module_.type(v).dims), whole = shape_of(module_.type(from).dims);
    const std::vector<size_t> places = view_places(module_, op);
    const std::ptrdiff_t ranged = ranged_place(module_, op);
    std::int64_t begin = 0;
    if (ranged >= 0) {
      begin = integer(range_begin(op));
      RangeSizes sizes = range_sizes(module_, op);
      sizes.whole = dim_size(op.over[0]);
      if (!sizes.single) sizes.size = dim_size(op.dim);
      require_inside(sizes, begin, op.where);
    }
    Words made;
    std::vector<std::int64_t> index(shape.size(), 0);
    const std::int64_t count = product_of(shape);
    work_.copies(count, static_cast<std::int64_t>(planes_of(v)));
    for (std::int64_t i = 0; i < count; ++i, next_index(index, shape)) {
      std::int64_t at = 0;
      for (size_t d = 0; d < whole.size(); ++d) {
        at = at * whole[d] + (places[d] == no_place ? 0 : index[places[d]]) + (std::cmp_equal(d, ranged) ? begin : 0);
      }
      const std::span<const Word> taken = element(from, at);
      made.insert(made.end(), taken.begin(), taken.end());
    }
    set(v, std::move(made));
  }

  Words identities(FnId reducer, std::int64_t count, const Location& where) const {
    const auto identity = reducer_identity(module_.fn(reducer));
    if (!identity) {
      fail(ExitStatus::bad_input, fmt::format("the reducer {} has no identity element", module_.fn(reducer).name), "",
           "reduce with a function that has one", where);
    }
    Words made;
    for (std::int64_t i = 0; i < count; ++i) made.insert(made.end(), identity->begin(), identity->end());
    return made;
  }

  // The k-th of `count` things in the order in which they are combined.
  [[nodiscard]] std::int64_t nth(std::int64_t k, std::int64_t count) const {
    constexpr int beginnings = 5;
    const std::int64_t first = count / beginnings * (options_.order / 2 % beginnings);
    const std::int64_t from_first = options_.order % 2 != 0 ? count - 1 - k : k;
    return first + from_first < count ? first + from_first : first + from_first - count;
  }
  template <class Take>
  void in_order(std::int64_t count, const Take& take) const {
    for (std::int64_t k = 0; k < count; ++k) take(nth(k, count));
  }

  static void set_index(std::vector<std::int64_t>& index, const std::vector<std::int64_t>& shape, std::int64_t place) {
    for (size_t d = shape.size(); d-- > 0; place /= shape[d]) index[d] = place % shape[d];
  }

  // acc[at] = reducer(acc[at], next)
  void fold(FnId reducer, Words& acc, std::int64_t at, std::span<const Word> next) const {
    const size_t planes = next.size();
    const auto here = std::span(acc).subspan(static_cast<size_t>(at) * planes, planes);
    const Words old(here.begin(), here.end());
    const std::span<const Word> args[2] = {old, next};
    evaluate(module_.fn(reducer), args, here);
  }

  void run_reduce(const Op& op) {
    const ValueId v = op.results.at(0), from = op.operands.at(0);
    const std::vector<DimId>& dims = module_.type(from).dims;
    const auto shape = shape_of(dims);
    const auto strides = strides_in(dims, module_.type(v).dims);
    Words made = identities(op.fns.at(0), count_of(v), op.where);
    std::vector<std::int64_t> index(shape.size(), 0);
    const std::int64_t count = product_of(shape);
    work_.calls(count, op.fns[0]);
    in_order(count, [&](std::int64_t i) {
      set_index(index, shape, i);
      fold(op.fns[0], made, offset(index, strides), element(from, i));
    });
    set(v, std::move(made));
  }

  // ---- products: entry by entry in ascending order of the operand's index

  void run_product(const Op& op) {
    const ValueId matrix = op.operands.at(1);
    const WholeMatrix* sparse = values_.at(static_cast<size_t>(matrix)).matrix;
    const std::int64_t entries = sparse != nullptr ? static_cast<std::int64_t>(sparse->rows.size()) : count_of(matrix);
    const std::int64_t calls = checked_mul(entries, columns_of(op), "the work of a product");
    work_.calls(calls, op.fns.at(0));
    work_.calls(calls, op.fns.at(1));
    Words made = identities(op.fns.at(1), count_of(op.results.at(0)), op.where);
    if (sparse != nullptr) {
      run_sparse(op, *sparse, made);
    } else {
      run_dense(op, made);
    }
    set(op.results[0], std::move(made));
  }

  // Every column of the operand's index `from` into that of the result's index `to`.
  void multiply_into(const Op& op, Words& made, std::int64_t from, std::int64_t to, std::span<const Word> entry) const {
    Words term(planes_of(op.results[0]));
    const std::int64_t columns = columns_of(op);
    for (std::int64_t k = 0; k < columns; ++k) {
      const std::span<const Word> args[2] = {element(op.operands[0], from * columns + k), entry};
      evaluate(module_.fn(op.fns.at(0)), args, term);
      fold(op.fns.at(1), made, to * columns + k, term);
    }
  }

  [[nodiscard]] std::int64_t columns_of(const Op& product) const {
    const std::vector<std::int64_t> shape = shape_of(module_.type(product.operands[0]).dims);
    return std::accumulate(shape.begin() + 1, shape.end(), std::int64_t{1}, std::multiplies<>());
  }

  void run_sparse(const Op& op, const WholeMatrix& matrix, Words& made) const {
    const bool transposed = op.code == OpCode::mxvt;
    const auto& from = transposed ? matrix.cols : matrix.rows;
    const auto& to = transposed ? matrix.rows : matrix.cols;
    const ElementType& seen = module_.fn(op.fns.at(0)).params.at(1).type;
    const bool null = module_.type(op.operands[1]).element.bytes() == 0;
    Words entry;
    if (null) {
      for (std::int64_t p = 0; p < seen.planes(); ++p) {
        entry.push_back(is_float(seen.plane_scalar(p)) ? Word::real(1) : Word::integer(1));
      }
    }
    for (const size_t e : ascending(from)) {
      if (!null) {
        entry.clear();
        append_element(matrix.values, static_cast<std::int64_t>(e), entry);
      }
      multiply_into(op, made, from[e], to[e], entry);
    }
  }

  void run_dense(const Op& op, Words& made) const {
    const bool transposed = op.code == OpCode::mxvt;
    const auto shape = shape_of(module_.type(op.operands[1]).dims);
    in_order(count_of(op.operands[1]), [&](std::int64_t k) {
      const std::int64_t i = k / shape.at(1), j = k % shape[1];
      multiply_into(op, made, transposed ? j : i, transposed ? i : j, element(op.operands[1], k));
    });
  }

  // ---- folds of stored entries, in the order of a product's

  // What the function sees of operand `v` at an index: an element, or all columns there.
  std::span<const Word> point(ValueId v, std::int64_t index) const {
    const auto& dims = module_.type(v).dims;
    const std::vector<DimId> local(dims.begin() + (dims.empty() ? 0 : 1), dims.end());
    const auto words = static_cast<size_t>(product_of(shape_of(local))) * planes_of(v);
    return std::span(this->words(v)).subspan(static_cast<size_t>(index) * words, words);
  }

  void run_fold(const Op& op) {
    const WholeMatrix& matrix = *values_.at(static_cast<size_t>(op.operands.at(0))).matrix;
    const bool by_rows = op.code == OpCode::fold_rows;
    const auto& to = by_rows ? matrix.rows : matrix.cols;
    const ScalarFunction& fn = module_.fn(op.fns.at(0));
    const bool pattern = module_.type(op.operands[0]).element.bytes() == 0;
    const Word one = is_float(fn.params.at(0).type.scalar()) ? Word::real(1) : Word::integer(1);
    Words made = identities(op.fns.at(1), count_of(op.results.at(0)), op.where);
    Words term(static_cast<size_t>(fn.result().planes()));
    const size_t planes = planes_of(op.results[0]), columns = term.size() / planes;
    work_.calls(static_cast<std::int64_t>(to.size()), op.fns[0]);
    work_.calls(static_cast<std::int64_t>(to.size() * columns), op.fns[1]);
    for (const size_t e : ascending(by_rows ? matrix.cols : matrix.rows)) {
      Words entry{one};
      if (!pattern) {
        entry.clear();
        append_element(matrix.values, static_cast<std::int64_t>(e), entry);
      }
      std::vector<std::span<const Word>> args{entry};
      for (size_t i = 1; i < op.operands.size(); ++i) {
        const EntrySide side = entry_side(module_, op, i);
        const std::int64_t index = side == EntrySide::rows   ? matrix.rows[e]
                                   : side == EntrySide::cols ? matrix.cols[e]
                                                             : 0;
        args.push_back(point(op.operands[i], index));
      }
      evaluate(fn, args, term);
      for (size_t c = 0; c < columns; ++c) {
        fold(op.fns[1], made, to[e] * static_cast<std::int64_t>(columns) + static_cast<std::int64_t>(c),
             std::span(term).subspan(c * planes, planes));
      }
    }
    set(op.results[0], std::move(made));
  }

  // The places of entries, by ascending index of one axis, in the order in which they are combined.
  std::vector<size_t> ascending(const std::vector<std::int64_t>& from) const {
    std::vector<size_t> order(from.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return from[a] < from[b]; });
    if (options_.order == 0) return order;
    std::vector<size_t> other(order.size());
    for (size_t k = 0; k < order.size(); ++k)
      other[k] = order[static_cast<size_t>(nth(static_cast<std::int64_t>(k), std::ssize(order)))];
    return other;
  }

  // ---- lists

  void run_list(const Op& op) {
    Held list = values_[static_cast<size_t>(op.operands.at(0))];
    if (op.code == OpCode::make_list) {
      list.arrays.assign(static_cast<size_t>(module_.type(op.results.at(0)).list), list.arrays.at(0));
    } else if (op.code == OpCode::push) {
      list.arrays.erase(list.arrays.begin());
      list.arrays.push_back(values_[static_cast<size_t>(op.operands.at(1))].arrays.at(0));
    } else {
      const std::int64_t i = integer(op.operands.at(1));
      const auto length = static_cast<std::int64_t>(list.arrays.size());
      if (i < 0 || i >= length) {
        fail(ExitStatus::bad_input, fmt::format("index {} of a list of {} arrays", i, length), "places count from 0",
             "check the bounds of the loop", op.where);
      }
      const auto at = static_cast<size_t>(i);
      if (op.code == OpCode::get) list = Held{{list.arrays[at]}, nullptr};
      if (op.code == OpCode::put) list.arrays[at] = values_[static_cast<size_t>(op.operands.at(2))].arrays.at(0);
    }
    values_[static_cast<size_t>(op.results.at(0))] = std::move(list);
  }

  const Module& module_;
  const WholeInputs& inputs_;
  const InterpretOptions& options_;
  InterpreterWork work_;
  std::vector<std::int64_t> sizes_;
  std::vector<Held> values_;
  std::map<std::string, Array> outputs_;
};

}  // namespace

std::map<std::string, Array> interpret(const Module& module, const WholeInputs& inputs) {
  return interpret(module, inputs, {});
}

std::map<std::string, Array> interpret(const Module& module, const WholeInputs& inputs,
                                       const InterpretOptions& options) {
  return Interpreter(module, inputs, options).run();
}

}  // namespace kasen
