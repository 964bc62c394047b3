#include "libcore/ir/entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/ir/layout.h"
#include "libcore/scalar/loops.h"

namespace kasen {
namespace {

bool uses_outer_loop(const Expr& e, std::set<int>& open) {
  if (e.op == ScalarOp::loop_var) return !open.contains(e.index);
  const bool opens = is_coordinate_loop(e.op) && open.insert(e.index).second;
  const bool uses =
      std::any_of(e.args.begin(), e.args.end(), [&](const Expr& arg) { return uses_outer_loop(arg, open); });
  if (opens) open.erase(e.index);
  return uses;
}

// True if it has a value by itself, outside all coordinate loops around it.
bool stands_alone(const Expr& e) {
  std::set<int> open;
  return !uses_outer_loop(e, open);
}

class Parts {
 public:
  explicit Parts(const ScalarFunction& fn) : params_(fn.params) {
    made_.rest.body = fn.body;
    const ElementType& type = fn.body.type;
    if (type.is_array() && fn.body.op != ScalarOp::build) {
      const int number = loops(fn.body);
      made_.rest.body =
          make_loop(ScalarOp::build, number, type.components[0].count, make_element(fn.body, make_loop_var(number)));
    }
    take_sums(made_.rest.body);
    if (made_.rest.body.op == ScalarOp::build) take_once(made_.rest.body.args[0]);
    made_.rest.name = fn.name;
  }

  EntryFunction parts() {
    for (auto* list : {&made_.sums, &made_.once})
      for (ScalarFunction& fn : *list) fn.params = params_;
    made_.rest.params = params_;
    return std::move(made_);
  }

 private:
  // A number above those of all loops in it.
  static int loops(const Expr& e) {
    int number = is_coordinate_loop(e.op) ? e.index + 1 : 0;
    for (const Expr& arg : e.args) number = std::max(number, loops(arg));
    return number;
  }

  // A parameter of its type replaces `e`; `list` gets the function that computes it by `body`.
  void replace(Expr& e, Expr body, std::vector<ScalarFunction>& list, std::vector<std::pair<Expr, int>>& known) {
    auto it = std::find_if(known.begin(), known.end(), [&](const auto& pair) { return pair.first == e; });
    if (it == known.end()) {
      known.emplace_back(e, static_cast<int>(params_.size()));
      it = known.end() - 1;
      params_.push_back({fmt::format("part_{}", params_.size()), e.type, {}});
      list.push_back({params_.back().name, {}, std::move(body)});
    }
    e = make_param(it->second, params_[static_cast<size_t>(it->second)].type);
  }

  void take_sums(Expr& e) {
    if (e.op == ScalarOp::sum_over && is_float(e.type.scalar()) && stands_alone(e)) {
      return replace(e, make_loop(ScalarOp::build, e.index, e.count, e.args[0]), made_.sums, sums_);
    }
    for (Expr& arg : e.args) take_sums(arg);
  }

  void take_once(Expr& e) {
    const bool leaf = e.args.empty();
    if (!leaf && e.type.is_scalar() && stands_alone(e)) return replace(e, e, made_.once, once_);
    for (Expr& arg : e.args) take_once(arg);
  }

  std::vector<ScalarParam> params_;
  EntryFunction made_;
  std::vector<std::pair<Expr, int>> sums_, once_;
};

}  // namespace

EntrySide entry_side(const Module& module, const Op& fold, size_t i) {
  if (Layout(module, fold.operands.at(i)).is_shared()) return EntrySide::shared;
  return i <= static_cast<size_t>(fold.at_rows) ? EntrySide::rows : EntrySide::cols;
}

SlaveSet entry_slaves(const Module& module, const Op& fold, EntrySide side) {
  return {{matrix_name(module, fold.operands.at(0)), side == EntrySide::rows ? Axis::rows : Axis::cols}};
}

bool is_across(const Module& module, const Op& fold, size_t i) {
  const EntrySide side = entry_side(module, fold, i);
  return side != EntrySide::shared && side != result_side(fold);
}

ValueId across_operand(const Module& module, const Op& fold) {
  for (size_t i = 1; i < fold.operands.size(); ++i)
    if (is_across(module, fold, i)) return fold.operands[i];
  throw InternalError("a fold without an operand over the other axis");
}

std::int64_t point_columns(const Module& module, const Type& type) {
  std::int64_t columns = 1;
  for (size_t i = 1; i < type.dims.size(); ++i) {
    const std::int64_t size = module.dim(type.dims[i]).size;
    if (size < 0 || size > most_point_coordinates) return std::numeric_limits<std::int64_t>::max();
    columns = std::min(columns * size, most_point_coordinates + 1);
  }
  return columns;
}

std::optional<ElementType> seen_element(const Module& module, const Type& type) {
  if (type.dims.size() < 2) return type.element;
  const std::int64_t columns = point_columns(module, type);
  ElementType seen = type.element;
  if (!seen.is_scalar() || columns < 1 || columns > most_point_coordinates) return std::nullopt;
  seen.components[0].count = columns;
  return seen;
}

EntryFunction entry_function(const ScalarFunction& fn) { return Parts(fn).parts(); }

}  // namespace kasen
