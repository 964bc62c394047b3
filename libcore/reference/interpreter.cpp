#include "libcore/reference/interpreter.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "libcore/analysis/value_ranges.h"
#include "libcore/ir/derived_dims.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/observed.h"
#include "libcore/reference/interpreter_state.h"

namespace kasen::reference {

std::int64_t product_of(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count = checked_mul(count, size, "an array's size");
  return count;
}

std::map<std::string, Array> Interpreter::run() {
  for (const auto& [name, words] : inputs_.params) {
    if (params_known(module_.body, name)) continue;
    fail(ExitStatus::usage, fmt::format("the program has no parameter '{}'", name));
  }
  run_block(module_.body);
  return std::move(outputs_);
}

std::int64_t Interpreter::size_of(const Dimension& dim) const {
  if (dim.is_entries()) {
    const auto matrix = inputs_.matrices.find(dim.entries_of);
    return matrix == inputs_.matrices.end() ? -1 : std::ssize(matrix->second.rows);
  }
  const auto it = inputs_.dims.find(dim.name);
  if (dim.is_derived()) {
    const std::int64_t size = derived_size(dim.derived, [&](DimId source) { return sizes_.at(source); });
    if (follows_observed(module_.dims, module_.find_dim(dim.name))) return size;  // the most, until it is observed
    if (it != inputs_.dims.end() && size >= 0 && size != it->second) {
      refuse_derived_size(fmt::format("dimension '{}' has {} indices", dim.name, it->second),
                          derivation_text(module_, module_.find_dim(dim.name)), size);
    }
    require_whole(
        dim, [&](DimId source) { return sizes_.at(source); }, [&](DimId source) { return module_.dim(source).name; });
    if (size >= 0) return size;
  }
  if (it == inputs_.dims.end()) return dim.size;
  if (dim.size >= 0 && dim.size != it->second) {
    fail(ExitStatus::bad_input, fmt::format("dimension '{}' has {} indices, not {}", dim.name, it->second, dim.size));
  }
  return it->second;
}

bool Interpreter::params_known(const Block& block, const std::string& name) {
  return std::any_of(block.ops.begin(), block.ops.end(), [&](const Op& op) {
    if (op.code == OpCode::param && op.name == name) return true;
    return std::any_of(op.blocks.begin(), op.blocks.end(), [&](const Block& b) { return params_known(b, name); });
  });
}

std::int64_t Interpreter::dim_size(DimId dim) const {
  const std::int64_t size = sizes_.at(dim);
  if (size < 0) {
    fail(ExitStatus::bad_input, fmt::format("dimension '{}' has no size", module_.dim(dim).name),
         "no input gives one and the program leaves it open");
  }
  return size;
}

std::vector<std::int64_t> Interpreter::shape_of(const std::vector<DimId>& dims) const {
  std::vector<std::int64_t> shape;
  for (const DimId d : dims) shape.push_back(dim_size(d));
  return shape;
}

const Words& Interpreter::words(ValueId v) const {
  const Held& held = values_.at(v);
  if (held.arrays.size() != 1) throw InternalError("a value that is no single array is read as one");
  return *held.arrays[0];
}

std::vector<Held> Interpreter::run_block(const Block& block) {
  for (const Op& op : block.ops) {
    if (op.code != OpCode::yield) {
      run_op(op);
      continue;
    }
    std::vector<Held> yielded;
    for (const ValueId v : op.operands) yielded.push_back(values_[v]);
    return yielded;
  }
  return {};
}

std::vector<Held> Interpreter::operands_from(const Op& op, size_t first) const {
  std::vector<Held> held;
  for (size_t i = first; i < op.operands.size(); ++i) held.push_back(values_[op.operands[i]]);
  return held;
}

void Interpreter::run_region(const Op& op) {
  const Block& body = op.blocks.at(0);
  if (!body.args.empty()) bind(body.args, 0, operands_from(op, 0));
  bind(op.results, 0, run_block(body));
}

void Interpreter::run_while_loop(const Op& op) {
  const Block& body = op.blocks.at(0);
  std::vector<Held> carried = operands_from(op, 0);
  while (carried.at(static_cast<size_t>(op.test)).arrays.at(0)->at(0).i != 0) {
    bind(body.args, 0, carried);
    carried = run_block(body);
  }
  bind(op.results, 0, carried);
}

void Interpreter::run_for_loop(const Op& op) {
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

void Interpreter::run_input(const Op& op) {
  const ValueId v = op.results.at(0);
  const Type& type = module_.type(v);
  if (type.sparse) {
    const auto it = inputs_.matrices.find(op.name);
    if (it == inputs_.matrices.end()) no_input(op);
    values_[v] = Held{{}, std::shared_ptr<const WholeMatrix>(&it->second, [](const WholeMatrix*) {})};
    return;
  }
  const Array* array = nullptr;
  if (gives_values(module_, op)) {
    const auto it = inputs_.matrices.find(op.name);
    array = it == inputs_.matrices.end() ? nullptr : &it->second.values;
  } else {
    const auto it = inputs_.arrays.find(op.name);
    array = it == inputs_.arrays.end() ? nullptr : &it->second;
  }
  if (array == nullptr || array->element != type.element || array->count != count_of(v)) no_input(op);
  work_.copies(array->count, type.element.planes());
  Words made;
  for (std::int64_t i = 0; i < array->count; ++i) append_element(*array, i, made);
  set(v, std::move(made));
}

void Interpreter::append_element(const Array& array, std::int64_t i, Words& to) {
  for (std::int64_t p = 0; p < array.element.planes(); ++p) {
    const Scalar s = array.element.plane_scalar(p);
    to.push_back(load_word(s, array.plane(p) + i * scalar_bytes(s)));
  }
}

void Interpreter::run_output(const Op& op) {
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

void Interpreter::run_op(const Op& op) {
  using Run = void (Interpreter::*)(const Op&);
  static constexpr std::array<Run, operator_count> runs{
#define IR_OP(code, name, level, group, counts, text, types, states, ranges, run, doc) &Interpreter::run_##run,
#include "libcore/ir/operators.def"
#undef IR_OP
  };
  (this->*runs.at(static_cast<size_t>(op.code)))(op);
}

void Interpreter::run_if_else(const Op& op) {
  bind(op.results, 0, run_block(op.blocks.at(integer(op.operands.at(0)) != 0 ? 0 : 1)));
}

// ---- sources and lists

void Interpreter::run_index(const Op& op) {
  const std::int64_t count = count_of(op.results.at(0));
  work_.copies(count, 1);
  Words made;
  for (std::int64_t i = 0; i < count; ++i) made.push_back(Word::integer(i));
  set(op.results[0], std::move(made));
}

// A parameter has the words that are given for it.
void Interpreter::run_constant(const Op& op) {
  const ValueId v = op.results.at(0);
  const std::int64_t count = count_of(v);
  work_.copies(count, static_cast<std::int64_t>(planes_of(v)));
  const auto given = inputs_.params.find(op.name);
  const bool is_given = op.code == OpCode::param && given != inputs_.params.end();
  const Words& constant = is_given ? given->second : op.literal;
  if (op.code == OpCode::param) require_in_range(module_, op, constant);
  if (constant.size() == static_cast<size_t>(count) * planes_of(v)) return set(v, constant);
  Words made;
  for (std::int64_t i = 0; i < count; ++i) made.insert(made.end(), constant.begin(), constant.end());
  set(v, std::move(made));
}

void Interpreter::run_make_list(const Op& op) {
  Held list = held(op.operands.at(0));
  list.arrays.assign(static_cast<size_t>(module_.type(op.results.at(0)).list), list.arrays.at(0));
  held(op.results[0]) = std::move(list);
}

void Interpreter::run_push(const Op& op) {
  Held list = held(op.operands.at(0));
  list.arrays.erase(list.arrays.begin());
  list.arrays.push_back(held(op.operands.at(1)).arrays.at(0));
  held(op.results.at(0)) = std::move(list);
}

size_t Interpreter::list_place(const Op& op) {
  const std::int64_t i = integer(op.operands.at(1));
  const std::int64_t length = std::ssize(held(op.operands.at(0)).arrays);
  if (i < 0 || i >= length) {
    fail(ExitStatus::bad_input, fmt::format("index {} of a list of {} arrays", i, length), "positions count from 0",
         "check the bounds of the loop", op.where);
  }
  return static_cast<size_t>(i);
}

void Interpreter::run_get(const Op& op) {
  held(op.results.at(0)) = Held{{held(op.operands.at(0)).arrays[list_place(op)]}, nullptr};
}

void Interpreter::run_put(const Op& op) {
  const size_t place = list_place(op);
  Held list = held(op.operands.at(0));
  list.arrays[place] = held(op.operands.at(2)).arrays.at(0);
  held(op.results.at(0)) = std::move(list);
}

}  // namespace kasen::reference

namespace kasen {

std::map<std::string, Array> interpret(const Module& module, const WholeInputs& inputs) {
  return interpret(module, inputs, {});
}

std::map<std::string, Array> interpret(const Module& module, const WholeInputs& inputs,
                                       const InterpretOptions& options) {
  return reference::Interpreter(module, inputs, options).run();
}

}  // namespace kasen
