// The module's tables and small functions (see module.h).
#include "libcore/ir/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "libcore/base/checked.h"
#include "libcore/ir/products.h"

namespace kasen {
namespace {

constexpr int any = any_operands;

constexpr OpCounts op_counts(int least, int most, int results, int fns, int blocks, bool top) {
  return {least, most, results, fns, blocks, top};
}

constexpr std::array rows{
#define IR_OP(code, name, level, group, counts, text, types, states, ranges, run, doc) \
  OpRow{OpCode::code, name, level, OpGroup::group, op_counts counts, TextForm::text, doc},
#include "libcore/ir/operators.def"
#undef IR_OP
};

constexpr std::array<std::string_view, 7> law_names{"exchange",    "pushdown", "distributive", "associative",
                                                    "commutative", "identity", "idempotent"};

// The number behind "hint_" in a name, as it is printed; 0: it has none, or one above `most`.
std::size_t number_behind(std::string_view name, std::string_view hint, std::size_t most) {
  if (name.size() < hint.size() + 2 || !name.starts_with(hint) || name[hint.size()] != '_') return 0;
  const std::string_view digits = name.substr(hint.size() + 1);
  std::size_t number = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool whole = read.ec == std::errc() && read.ptr == digits.data() + digits.size() && digits[0] != '0';
  return whole && number <= most ? number : 0;
}

// The hint, or else "hint_2", "hint_3", ..., the first that is free. One pass: thousands of values may have one hint.
template <class Range, class Used>
std::string free_name(const std::string& hint, const Range& used, Used name_of) {
  bool taken = false;
  std::vector<bool> numbers(used.size() + 3, false);  // so many cannot all be taken
  for (const auto& one : used) {
    const std::string& name = name_of(one);
    taken = taken || name == hint;
    numbers[number_behind(name, hint, numbers.size() - 1)] = true;
  }
  if (!taken) return hint;
  const auto free = std::find(numbers.begin() + 2, numbers.end(), false);
  return fmt::format("{}_{}", hint, free - numbers.begin());
}

void visit_block(const Block& block, const std::function<void(const Op&, int, int)>& visit, int& number, int depth) {
  for (const Op& op : block.ops) {
    visit(op, number++, depth);
    for (const Block& inner : op.blocks) visit_block(inner, visit, number, depth + 1);
  }
}

}  // namespace

std::span<const OpRow> op_rows() { return rows; }
const OpRow& row(OpCode code) { return rows[static_cast<size_t>(code)]; }

const OpRow* find_op(std::string_view name) {
  const auto it = std::find_if(rows.begin(), rows.end(), [&](const OpRow& r) { return r.name == name; });
  return it == rows.end() ? nullptr : &*it;
}

std::string_view law_name(LawKind kind) { return law_names[static_cast<size_t>(kind)]; }

DimId Module::find_dim(std::string_view wanted) const {
  const auto it = std::find_if(dims.begin(), dims.end(), [&](const Dimension& d) { return d.name == wanted; });
  return it == dims.end() ? no_dim : DimId(it - dims.begin());
}

ValueId Module::add_value(std::string_view hint, Type type) {
  std::string unique =
      free_name(std::string(hint), values, [](const Value& v) -> const std::string& { return v.name; });
  return values.push_back(Value{std::move(unique), std::move(type), no_buffer});
}

FnId Module::add_function(ScalarFunction fn) {
  const auto same_types = [](const ScalarParam& a, const ScalarParam& b) {
    return a.type == b.type && a.range == b.range;
  };
  for (const FnId id : functions.ids()) {
    const ScalarFunction& known = functions[id];
    const bool same = known.body == fn.body && std::equal(known.params.begin(), known.params.end(), fn.params.begin(),
                                                          fn.params.end(), same_types);
    if (same) return id;
  }
  fn.name = free_name(fn.name, functions, [](const ScalarFunction& f) -> const std::string& { return f.name; });
  return functions.push_back(std::move(fn));
}

void for_each_op(const Module& module, const std::function<void(const Op& op, int number, int depth)>& visit) {
  int number = 0;
  visit_block(module.body, visit, number, 0);
}

const std::string& matrix_name(const Module& module, ValueId matrix) {
  const SparseSource source = sparse_source(module, matrix);
  return source.input == nullptr ? module.value(matrix).name : source.input->name;
}

}  // namespace kasen
