// Aggregates that are built from others: mean, sumsq, argmax and argmin.
#include <fmt/format.h>

#include <utility>

#include "libcore/lang/calls/reduction.h"

namespace kasen::lang {
namespace {

// Of two pairs (value, id), the one whose value comes first; of equal values, the one with the smaller id. As in min
// and max, a NaN comes before all numbers. All NaN are equal, and so are -0 and 0.
ScalarFunction first_of_pairs(const std::string& name, const ElementType& pair, ScalarOp before) {
  const Expr a = make_param(0, pair), b = make_param(1, pair);
  const Expr x = make_component(a, 0), y = make_component(b, 0);
  const Expr smaller = make_op(ScalarOp::le, {make_component(a, 1), make_component(b, 1)});
  const Expr equal = make_op(ScalarOp::eq, {x, y});
  Expr keeps =
      make_op(ScalarOp::logical_or, {make_op(before, {x, y}), make_op(ScalarOp::logical_and, {equal, smaller})});
  if (is_float(x.type.scalar())) {
    const Expr nan = make_op(ScalarOp::ne, {x, x}), number = make_op(ScalarOp::eq, {y, y});
    keeps = make_op(ScalarOp::select, {nan, make_op(ScalarOp::logical_or, {number, smaller}), std::move(keeps)});
  }
  return {name, {{"a", pair}, {"b", pair}}, make_op(ScalarOp::select, {std::move(keeps), a, b})};
}

}  // namespace

Term Reductions::aggregated_numbers(const Node& node, const std::string& conversion) {
  Term array = aggregated(node);
  if (array.type().is_scalar() && is_numeric(array.type().scalar())) return array;
  source_.fail(node.args[0].mark, fmt::format("{} of {}", node.text, show(module_, array.type())), "it takes numbers",
               array.type().is_scalar() ? fmt::format("write {}({}(x))", node.text, conversion) : "");
}

// The sum, divided by the number of elements in f64. Integers are converted to f64 before they are added, as by `/`.
Term Reductions::mean(const Node& node) {
  Term array = aggregated_numbers(node, "f64");
  const Scalar scalar = array.type().is(Scalar::f32) ? Scalar::f32 : Scalar::f64;
  const auto converted = [&](Term term) { return convert_term(module_, scalar, std::move(term)); };
  if (!array.type().is(scalar)) array = located(source_, node.mark, [&] { return converted(std::move(array)); });
  const std::vector<DimId> dims = array.dims;
  if (const Node* over = over_argument(node, 1); has_keys(over)) {  // each key has its own number of elements
    const Node add = function_node("add", node.mark);
    Term sums = reduce(add, std::move(array), over, node.mark, "total");
    Term counts = reduce(add, literal_term(scalar, Word::real(1)), over, node.mark, "count");
    return located(source_, node.mark, [&] {
      return combine(module_, ScalarOp::div, {std::move(sums), std::move(counts)});
    });
  }
  Term total = reduce(function_node("add", node.mark), std::move(array), over_argument(node, 1), node.mark, "total");
  return located(source_, node.mark, [&] {
    Term count = literal_term(Scalar::f64, Word::real(1));
    for (const DimId d : dims) {
      if (contains(total.dims, d)) continue;
      Term size = convert_term(module_, Scalar::f64, values_.term(values_.size(d, node.mark, "count")));
      count = count.literal ? std::move(size) : combine(module_, ScalarOp::mul, {std::move(count), std::move(size)});
    }
    if (scalar == Scalar::f32) count = converted(std::move(count));
    return combine(module_, ScalarOp::div, {std::move(total), std::move(count)});
  });
}

Term Reductions::sum_of_squares(const Node& node, const std::string& hint) {
  const Term array = aggregated(node);
  Term squares = located(source_, node.mark, [&] {
    return combine(module_, ScalarOp::mul, {evaluator_.charge(array), array});
  });
  return reduce(function_node("add", node.mark), std::move(squares), over_argument(node, 1), node.mark, hint);
}

// argmax(v), argmin(A, over F): the id of the largest or smallest element, by a reduction of pairs (element, id).
Term Reductions::place(const Node& node) {
  Term array = aggregated_numbers(node, "i64");
  const std::vector<DimId> over = types_.named(array.dims, over_argument(node, 1), node.mark);
  const std::vector<DimId> along = over.empty() ? array.dims : over;
  if (along.size() != 1) {
    source_.fail(node.mark, fmt::format("{} along {} of an array", node.text, show_dims(module_, along)),
                 "an index belongs to one dimension",
                 fmt::format("name one: {}(A, over {})", node.text, module_.dim(along.back()).name));
  }
  const ScalarOp before = node.text == "argmax" ? ScalarOp::gt : ScalarOp::lt;
  const auto reducer = [&](const ElementType& pair) { return first_of_pairs(node.text, pair, before); };
  if (formulas_.is_entries(array)) return folds_.place(std::move(array), along[0], reducer, node.mark);
  Term ids = values_.term(values_.index(along[0], node.mark, "ids"));
  Term pairs = located(source_, node.mark, [&] { return tuple_term(module_, {std::move(array), std::move(ids)}); });
  const FnId by = builder_.add_function(reducer(pairs.type()));
  const ValueId from = values_.materialise(std::move(pairs), "pairs", node.mark);
  return component_term(values_.term(values_.reduce(by, from, over, node.mark, "first")), 1);
}

}  // namespace kasen::lang
