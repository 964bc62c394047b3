#include "libcore/lang/assume.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "libcore/analysis/value_ranges.h"
#include "libcore/scalar/element_range.h"

namespace kasen::lang {

void Assumptions::add(const Statement& s) {
  if (s.value.empty()) return law(s);
  range(s.value[0]);
}

// assume weight > 0, 0 <= r && r < 1: compares an input or param with a number that is known to plan.
void Assumptions::range(const Node& node) {
  const bool operation = node.kind == NodeKind::operation && node.args.size() == 2;
  if (operation && node.op == ScalarOp::logical_and) {
    for (const Node& part : node.args) range(part);
    return;
  }
  if (!operation || row(node.op).result != ResultRule::compare) {
    source_.fail(node.mark, "an assumption that is neither a law nor a comparison", {},
                 "write assume exchange(f, +), or assume weight > 0");
  }
  const bool turned = source_named(node.args[0]) == nullptr;
  const Node& side = node.args[turned ? 1 : 0];
  const Op* op = source_named(side);
  if (op == nullptr) {
    source_.fail(node.mark, "a range is assumed only for an input or a param",
                 "computed values have the range of their expression",
                 "write the name of one on one side (x, x.1, x[0]), and a literal or const on the other");
  }
  const int place = assumed_place(side, *op);
  builder_.assume(op->name, place, compared_range(node, turned));
  require_numbers(*op, place, node.mark);
  if (op->code != OpCode::param) return;
  const std::string fault = range_fault(module_, *op, op->literal);
  if (!fault.empty()) source_.fail(node.mark, fault, {}, "give it another value, or assume another range");
}

// The input or param of `x`, `x.1` and `x[0]`.
const Op* Assumptions::source_named(const Node& side) const {
  if (side.kind == NodeKind::component || side.kind == NodeKind::index) return source_named(side.args[0]);
  if (side.kind != NodeKind::name) return nullptr;
  for (const Op& op : module_.body.ops) {
    if ((op.code == OpCode::input || op.code == OpCode::param) && op.name == side.text) return &op;
  }
  return nullptr;
}

// The place of an element that `x.1` or `x[0]` names; -1 for `x`: all of its numbers.
int Assumptions::assumed_place(const Node& side, const Op& op) {
  const ElementType& type = module_.type(op.results[0]).element;
  const bool coordinate = side.kind == NodeKind::index;
  const Node& base = coordinate ? side.args[0] : side;
  int component = 0;
  if (base.kind == NodeKind::component) {
    component = base.component;
    if (!type.tuple || component >= static_cast<int>(type.components.size())) {
      source_.fail(base.mark, fmt::format("'{}' has no component .{}", op.name, component),
                   fmt::format("its elements are {}", show(module_, type)));
    }
  } else if (base.kind != NodeKind::name || (coordinate && type.tuple)) {
    source_.fail(base.mark, "a range is assumed for one number of an element", {}, "write x, x.1, x[0] or x.1[0]");
  }
  const Component& c = type.components[static_cast<size_t>(component)];
  const auto first = static_cast<int>(place_of_component(type, component));
  if (!coordinate) {
    if (base.kind == NodeKind::component && c.count > 0) {
      source_.fail(base.mark, fmt::format("'{}.{}' has {} coordinates", op.name, component, c.count), {},
                   "assume the range of each: x.1[0] > 0, x.1[1] > 0");
    }
    return base.kind == NodeKind::component ? first : -1;
  }
  const std::int64_t at = evaluator_.count(side.args[1], 0, "the number of a coordinate");
  if (at >= c.count || c.count > coordinates_apart) {
    source_.fail(side.args[1].mark, fmt::format("no range of coordinate {} of '{}'", at, op.name),
                 c.count > coordinates_apart
                     ? fmt::format("more than {} coordinates share one range", coordinates_apart)
                     : fmt::format("its elements are {}", show(module_, type)));
  }
  return first + static_cast<int>(at);
}

// All assumptions about one place hold at once.
void Assumptions::require_numbers(const Op& op, int place, Mark mark) const {
  const ElementType& type = module_.type(op.results[0]).element;
  for (size_t i = 0; i < places_of(type); ++i) {
    if (place >= 0 && static_cast<size_t>(place) != i) continue;
    Interval all;
    for (const RangeAssumption& word : module_.ranges) {
      const bool meant = word.name == op.name && (word.place < 0 || static_cast<size_t>(word.place) == i);
      if (meant) all = intersect(all, word.range);
    }
    const Scalar scalar = place_scalar(type, i);
    if (!is_empty(all, is_integer(scalar) || scalar == Scalar::id)) continue;
    source_.fail(mark, fmt::format("no number is in the range of '{}'", place_text(type, op.name, i)),
                 "all assumptions about it hold at once");
  }
}

Interval Assumptions::compared_range(const Node& node, bool turned) {
  const Node& side = node.args[turned ? 0 : 1];
  const Term term = evaluator_.element(side);
  const bool number = term.known() && is_numeric(term.type().scalar()) && term.type().is_scalar();
  if (!number) source_.fail(side.mark, "the bound of a range must be a number known to plan");
  const Word word = constant_words(term)[0];
  const double bound = is_float(term.type().scalar()) ? word.f : static_cast<double>(word.i);
  if (std::isnan(bound)) source_.fail(side.mark, "the bound of a range is a number");
  const bool less = (node.op == ScalarOp::lt || node.op == ScalarOp::le) != turned;
  Interval range;
  switch (node.op) {
    case ScalarOp::eq:
      return Interval::exactly(bound);
    case ScalarOp::ne:
      if (bound != 0) source_.fail(node.mark, "only zero is excluded by itself", {}, "write x > bound or x < bound");
      range.not_zero = true;
      return range;
    default:
      (less ? range.high : range.low) = bound;
      (less ? range.below : range.above) = node.op == ScalarOp::lt || node.op == ScalarOp::gt;
      return range;
  }
}

namespace {

// Of one function, not of a function and a reducer.
bool is_alone(LawKind kind) { return kind == LawKind::associative || kind == LawKind::commutative; }

// Maps may also apply a function that reduces: r(x, x) takes one element. If none of the uses reduces, the check of the
// law reports it.
void keep_reducers(const Module& module, std::vector<Functions::Instance>& instances) {
  const auto reduces = [&](const Functions::Instance& instance) {
    const ScalarFunction& fn = module.fn(instance.fn);
    return fn.params.size() == 2 && fn.params[0].type == fn.result() && fn.params[1].type == fn.result();
  };
  if (std::none_of(instances.begin(), instances.end(), reduces)) return;
  std::erase_if(instances, [&](const auto& i) { return !reduces(i); });
}

}  // namespace

// The law that the statement names, which has the right number of arguments.
LawKind Assumptions::law_kind(const Statement& s) const {
  constexpr std::array kinds{LawKind::exchange, LawKind::pushdown, LawKind::distributive, LawKind::associative,
                             LawKind::commutative};
  const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](LawKind k) { return law_name(k) == s.name.text; });
  if (kind == kinds.end()) {
    source_.fail(s.mark, fmt::format("'{}' is no law", s.name.text), {},
                 "the laws are associative, commutative, identity, exchange, pushdown and distributive");
  }
  const bool alone = is_alone(*kind);
  const size_t least = alone ? 1 : 2, most = alone ? 1 : 3;
  if (s.arguments.size() < least || s.arguments.size() > most) {
    source_.fail(s.mark, fmt::format("{} of {} arguments", s.name.text, s.arguments.size()), {},
                 alone ? fmt::format("write {}(f)", s.name.text) : fmt::format("write {}(f, +)", s.name.text));
  }
  return *kind;
}

// assume exchange(f, +): f is a fn that the program uses, as a whole, in a map, reduction or product.
void Assumptions::law(const Statement& s) {
  if (s.name.text == "identity") return;  // used when reducers are lowered
  const LawKind kind = law_kind(s);
  const Node& f = s.arguments[0];
  const Statement* user = functions_.fn(f);
  if (user == nullptr) {
    source_.fail(f.mark, "assumptions are about functions of the program", "built-in functions are known",
                 "declare it: fn f(x, y) = ...");
  }
  std::vector<Functions::Instance> instances = functions_.instances(*user);
  if (instances.empty()) {
    source_.fail(f.mark, fmt::format("no operator applies '{}' as its whole function", f.text),
                 "an assumption is used only there", "use it as the function of a map, reduction or product");
  }
  const auto parameter = s.arguments.size() == 3 ? evaluator_.count(s.arguments[2], 0, "the parameter's number") : 0;
  if (is_alone(kind)) keep_reducers(module_, instances);
  for (const Functions::Instance& instance : instances) {
    if (parameter >= static_cast<std::int64_t>(instance.operand_of.size())) {
      source_.fail(s.arguments[2].mark, fmt::format("'{}' has {} parameters", f.text, instance.operand_of.size()),
                   "they count from 0");
    }
    LawUse use{kind, instance.fn, no_fn, 0, "assumed", source_.location(s.name.mark)};
    if (!is_alone(kind)) {
      use.operand = instance.operand_of[static_cast<size_t>(parameter)];
      if (use.operand < 0) continue;  // the parameter is not used
      const ElementType type = module_.fn(instance.fn).params[static_cast<size_t>(use.operand)].type;
      use.reducer = reducers_.plain(s.arguments[1], type, s.arguments[1].mark);
    }
    builder_.assume(std::move(use));
  }
}

}  // namespace kasen::lang
