#include "libcore/laws/coordinates.h"

#include <algorithm>
#include <utility>

#include "libcore/scalar/element_range.h"

namespace kasen {
namespace {

constexpr int no_variable = -1;

// The component of a parameter that an expression reads; empty for any other expression.
const Component* component_of(const Expr& e) {
  if (e.op == ScalarOp::param && !e.type.tuple) return &e.type.components[0];
  const bool part = e.op == ScalarOp::component && e.args[0].op == ScalarOp::param;
  return part ? &e.args[0].type.components[static_cast<size_t>(e.index)] : nullptr;
}

// True if `e` reads only scalar components and, of arrays of `count` coordinates, the one of loop variable `variable`.
bool reads_along(const Expr& e, int variable, std::int64_t count) {
  if (const Component* component = component_of(e)) return component->count == 0;
  if (e.op == ScalarOp::param || e.op == ScalarOp::build) return false;
  if (e.op == ScalarOp::loop_var) return e.index != variable;
  if (e.count > 0 && e.index == variable) return false;  // another loop with the variable's number
  if (e.op == ScalarOp::element) {
    const Component* array = component_of(e.args[0]);
    const Expr& at = e.args[1];
    if (array != nullptr && at.op == ScalarOp::loop_var && at.index == variable) return array->count == count;
  }
  return std::all_of(e.args.begin(), e.args.end(), [&](const Expr& arg) { return reads_along(arg, variable, count); });
}

bool by_coordinate(const Expr& made, const Component& component) {
  if (component.count == 0) return reads_along(made, no_variable, 0);
  return made.op == ScalarOp::build && made.count == component.count &&
         reads_along(made.args[0], made.index, made.count);
}

void shorten(ElementType& type) {
  for (Component& component : type.components)
    component.count = std::min<decltype(component.count)>(component.count, 1);
}

// Then all coordinates of a small array have one range.
ElementRange shortened(const ScalarParam& param) {
  if (param.range.empty()) return {};
  ElementRange range;
  size_t place = 0;
  for (const Component& component : param.type.components) {
    const size_t end = place + places_of(component);
    range.push_back(param.range[place]);
    for (++place; place < end; ++place) range.back() = join(range.back(), param.range[place]);
  }
  return as_declared(std::move(range));
}

void shorten(Expr& e) {
  shorten(e.type);
  if (e.op == ScalarOp::build) e.count = 1;
  for (Expr& arg : e.args) shorten(arg);
}

}  // namespace

std::optional<ScalarFunction> with_one_coordinate(const ScalarFunction& reducer) {
  const ElementType& type = reducer.result();
  const bool several = std::any_of(type.components.begin(), type.components.end(),
                                   [](const Component& component) { return component.count > 1; });
  if (!several || (type.tuple && reducer.body.op != ScalarOp::make_tuple)) return std::nullopt;
  for (size_t c = 0; c < type.components.size(); ++c) {
    const Expr& made = type.tuple ? reducer.body.args[c] : reducer.body;
    if (!by_coordinate(made, type.components[c])) return std::nullopt;
  }
  ScalarFunction one = reducer;
  for (ScalarParam& param : one.params) {
    param.range = shortened(param);
    shorten(param.type);
  }
  shorten(one.body);
  return one;
}

}  // namespace kasen
