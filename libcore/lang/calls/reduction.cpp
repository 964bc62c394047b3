#include "libcore/lang/calls/reduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "libcore/ir/axis_ops.h"
#include "libcore/lang/calls/axis.h"
#include "libcore/lang/terms/id_places.h"

namespace kasen::lang {
namespace {

bool within(const std::vector<DimId>& some, const std::vector<DimId>& all) {
  return std::all_of(some.begin(), some.end(), [&](DimId d) { return contains(all, d); });
}

// any(b) and all(b) of a single value are that value, so that functions on arrays which test all elements, as a loop
// does, work for single values, too. A number has no such value by itself: sum(s) is refused, as it is meant for an
// array.
bool is_one_truth(const Node& node, const Term& term) {
  return term.dims.empty() && node.args.size() == 1 && (node.text == "any" || node.text == "all");
}

}  // namespace

Reductions::Reductions(const Part& part, Reducers& reducers, Folds& folds)
    : Part(part), reducers_(reducers), folds_(folds) {
  using Name = Functions::Name;
  functions_.add({"reduce", "Reduce"}, Name::kept, [this](auto& node, auto& hint) { return reduce_call(node, hint); });
  functions_.add({"sum", "prod", "min", "max", "any", "all"}, Name::kept,
                 [this](auto& node, auto& hint) { return named_call(node, hint); });
  functions_.add({"mean"}, Name::yields, [this](auto& node, auto&) { return mean(node); });
  functions_.add({"sumsq"}, Name::yields, [this](auto& node, auto& hint) { return sum_of_squares(node, hint); });
  functions_.add({"argmax", "argmin"}, Name::yields, [this](auto& node, auto&) { return place(node); });
  functions_.add({"dot"}, Name::kept, [this](auto& node, auto& hint) { return dot_call(node, hint); });
}

Term Reductions::reduce(const Node& fn, Term array, const Node* over, Mark mark, const std::string& hint) {
  if (has_keys(over)) return grouped(fn, std::move(array), *over, mark, hint);
  values_.require_array(array, mark, "a reduction");
  if (formulas_.is_entries(array)) return folds_.reduce(fn, std::move(array), over, mark, hint);
  const ValueId operand = values_.materialise(std::move(array), "t", mark);
  const std::vector<DimId> dims = types_.named(module_.type(operand).dims, over, mark);
  const ElementType element = module_.type(operand).element;
  const Reducer by = reducers_.with_mask(fn, element, mark);
  const ValueId from = by.masked ? values_.materialise(Reducers::mask(values_.term(operand)), "t", mark) : operand;
  const ValueId result = values_.reduce(by.fn, from, dims, mark, hint);
  return by.masked ? reducers_.unmask(result, element, by) : values_.term(result);
}

// The keys of `by k in K`, and K: that of their ids, unless it is named.
ValueId Reductions::keys_of(const Node& over, DimId& into) {
  const Node& node = over.args[0];
  Term keys = evaluator_.element(node);
  values_.require_array(keys, node.mark, "the keys");
  const ElementType type = keys.type();
  const bool ids = type.is_scalar() && type.scalar() == Scalar::id;
  if (!ids && !type.is(Scalar::i64) && !type.is(Scalar::i32)) {
    source_.fail(node.mark, fmt::format("keys that are {}", show(module_, type)), "keys are ids, i64 or i32",
                 type.is_scalar() ? "write i64(k)" : "");
  }
  if (!ids && over.args.size() < 2) {
    source_.fail(node.mark,
                 fmt::format("keys that are {}, and no dimension that they count along", show(module_, type)),
                 "the result has an element for each index of a dimension", "name it: sum(x, by k in K)");
  }
  into = over.args.size() < 2 ? type.components[0].id_of : types_.dim({over.args[1].text, over.args[1].mark});
  if (ids && type.components[0].id_of != into) {
    const OtherPlaces told = other_places(module_, type.components[0].id_of, into, node, false);
    source_.fail(
        node.mark, fmt::format("keys that are {} and count along '{}'", show(module_, type), module_.dim(into).name),
        told.why,
        told.related ? told.remedy : fmt::format("write by k in {}", module_.dim(type.components[0].id_of).name));
  }
  return values_.materialise(std::move(keys), "k", node.mark);
}

// A single value is reduced once for each key. An array has the dimensions of the keys, if need be repeated.
ValueId Reductions::beside_keys(Term array, ValueId keys, Mark mark) {
  const std::vector<DimId>& dims = module_.type(keys).dims;
  if (!array.dims.empty() && !within(dims, array.dims)) {
    if (!within(array.dims, dims)) {
      source_.fail(
          mark,
          fmt::format("an array over {} by keys over {}", show_dims(module_, array.dims), show_dims(module_, dims)),
          "each element has a key: the array has the dimensions of the keys");
    }
    const Type repeated{array.type(), dims};
    array = values_.conform(std::move(array), repeated, mark, "the array");
  }
  return values_.materialise(std::move(array), "t", mark);
}

// The dimensions that the keys replace: the named ones, else all of the keys.
std::vector<DimId> Reductions::replaced(ValueId walked, ValueId keys, const Node& over, Mark mark) const {
  const std::vector<DimId>&dims = module_.type(walked).dims, &of_keys = module_.type(keys).dims;
  if (stands_twice(dims) || stands_twice(of_keys)) {
    source_.fail(mark, fmt::format("a reduction by keys of an array over {}", show_dims(module_, dims)),
                 "arrays meet by the names of dimensions, and one stands twice");
  }
  std::vector<DimId> named;
  for (const NameAt& name : over.names) {
    for (const DimId d : types_.dims(name)) {
      if (!contains(of_keys, d)) {
        source_.fail(name.mark, fmt::format("the keys are not over '{}'", module_.dim(d).name),
                     fmt::format("they are over {}", show_dims(module_, of_keys)),
                     "reduce along this dimension before, by a call of its own");
      }
      if (contains(named, d))
        source_.fail(name.mark, fmt::format("dimension '{}' is named twice", module_.dim(d).name));
      named.push_back(d);
    }
  }
  return named.empty() ? of_keys : named;
}

Term Reductions::grouped(const Node& fn, Term array, const Node& over, Mark mark, const std::string& hint) {
  if (formulas_.is_entries(array)) {
    formulas_.fail(array, mark, "stored entries by keys", "keys belong to the elements of arrays",
                   "sum them over rows or columns before");
  }
  DimId into = no_dim;
  const ValueId keys = keys_of(over, into);
  ValueId values = beside_keys(std::move(array), keys, mark);
  const ElementType element = module_.type(values).element;
  const ValueId walked = module_.type(values).dims.empty() ? keys : values;
  const std::vector<DimId> dims = replaced(walked, keys, over, mark);
  const Reducer by = reducers_.with_mask(fn, element, mark);
  if (by.masked) values = values_.materialise(Reducers::mask(values_.term(values)), "t", mark);
  Type type{module_.fn(by.fn).result(), grouped_dims(module_.type(walked).dims, dims, into)};
  if (stands_twice(type.dims)) {
    source_.fail(mark, fmt::format("a result over {}", show_dims(module_, type.dims)), "a dimension stands twice",
                 "count along another dimension of the same size");
  }
  const ValueId result = builder_.emit(
      {.code = OpCode::reduce_by, .operands = {values, keys}, .fns = {by.fn}, .over = dims}, mark, hint, type);
  return by.masked ? reducers_.unmask(result, element, by) : values_.term(result);
}

Term Reductions::reduce_call(const Node& node, const std::string& hint) {
  const Node* over = over_argument(node, 2);
  if (node.args.size() != 2 && over == nullptr) {
    source_.fail(node.mark, fmt::format("{} takes a function and an array", node.text), {},
                 "write reduce(+, v), or reduce(+, A, over F)");
  }
  if (node.args[1].kind == NodeKind::op_ref || node.args[1].kind == NodeKind::lambda) {
    source_.fail(node.args[1].mark, fmt::format("the function of {} stands behind the array", node.text), {},
                 "the function is the first argument: write reduce(+, v)");
  }
  return reduce(node.args[0], evaluator_.element(node.args[1]), over, node.mark, hint);
}

// The array of sum(v), sum(A, over F) and similar calls.
Term Reductions::aggregated(const Node& node) {
  if (node.args.size() != 1 && over_argument(node, 1) == nullptr) {
    const bool extremum = node.text == "min" || node.text == "max";
    const bool coordinates = extremum || node.text == "sum" || node.text == "prod";
    source_.fail(
        node.mark, fmt::format("{} of {} arguments", node.text, node.args.size()),
        extremum ? "it takes one array, or two values" : "it takes one array",
        fmt::format("write {0}(v){1}{0}(A, over F){2}", node.text, coordinates ? ", " : " or ",
                    coordinates ? fmt::format(", or {}(j in d: p[j]) for coordinates", node.text) : std::string()));
  }
  Term array = evaluator_.element(node.args[0]);
  if (!has_keys(over_argument(node, 1)) && !is_one_truth(node, array))
    values_.require_array(array, node.args[0].mark, node.text);
  return array;
}

Term Reductions::one_truth(Term term, Mark mark) {
  if (!term.type().is(Scalar::boolean)) {
    source_.fail(mark, fmt::format("a single {} where a bool is meant", show(module_, term.type())), {},
                 "compare it: any(x != 0)");
  }
  term.named = term.bare();  // the identity makes a copy where it is assigned
  return term;
}

// sum(x > 0), prod(m): no numbers, but how many there are is asked for so elsewhere.
void Reductions::refuse_truth(const Node& node) const {
  if (node.text != "sum" && node.text != "prod") return;
  const Node* const over = over_argument(node, 1);
  const std::string m = node.args[0].kind == NodeKind::name ? node.args[0].text : "x > 0";
  const std::string behind = has_keys(over) ? ", by k in K" : over != nullptr ? ", over " + over->names[0].text : "";
  std::string remedy = fmt::format("write count_nonzero({0}{1}), or sum(i64({0}){1})", m, behind);
  if (has_keys(over)) remedy = fmt::format("write sum(i64({}){})", m, behind);
  if (node.text == "prod") remedy = fmt::format("write all({}{})", m, behind);
  source_.fail(node.args[0].mark, fmt::format("{} of bool", node.text), "it takes numbers", remedy);
}

Term Reductions::named_call(const Node& node, const std::string& hint) {
  static const std::map<std::string, std::string> functions{{"sum", "add"}, {"prod", "mul"}, {"min", "min"},
                                                            {"max", "max"}, {"any", "or"},   {"all", "and"}};
  Term array = aggregated(node);
  if (is_one_truth(node, array)) return one_truth(std::move(array), node.args[0].mark);
  if (array.type().is(Scalar::boolean)) refuse_truth(node);
  return reduce(function_node(functions.at(node.text), node.mark), std::move(array), over_argument(node, 1), node.mark,
                hint);
}

Term Reductions::dot(std::vector<Term> pair, Mark mark, const std::string& hint) {
  Term pairs = located(source_, mark, [&] { return combine(module_, ScalarOp::mul, std::move(pair)); });
  return reduce(function_node("add", mark), std::move(pairs), nullptr, mark, hint);
}

Term Reductions::dot_call(const Node& node, const std::string& hint) {
  if (node.args.size() != 2) source_.fail(node.mark, "dot takes two arrays");
  std::vector<Term> args = evaluator_.elements(node.args);
  for (size_t i = 0; i < 2; ++i) values_.require_array(args[i], node.args[i].mark, "dot");
  return dot(std::move(args), node.mark, hint);
}

}  // namespace kasen::lang
