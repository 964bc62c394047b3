// Aggregates that are built from others: mean, sumsq, argmax and argmin.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "libcore/lang/lower.h"

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

// The sum, divided by the number of elements in f64. Integers are converted to f64 before they are added, as by `/`.
Term Lowering::mean_call(const Node& node, const std::string&) {
  Term array = aggregated(node);
  if (!array.type().is_scalar() || !is_numeric(array.type().scalar())) {
    source_.fail(node.args[0].mark, fmt::format("mean of {}", show(module_, array.type())), "it takes numbers",
                 array.type().is_scalar() ? "write mean(f64(x))" : "");
  }
  const Scalar scalar = array.type().is(Scalar::f32) ? Scalar::f32 : Scalar::f64;
  if (!array.type().is(scalar)) array = at(node.mark, [&] { return convert_term(module_, scalar, std::move(array)); });
  const std::vector<DimId> dims = array.dims;
  Term total = reduce(function_node("add", node.mark), std::move(array),
                      node.args.size() == 2 ? &node.args[1] : nullptr, node.mark, "total");
  return at(node.mark, [&] {
    Term count = literal_term(Scalar::f64, Word::real(1));
    for (const DimId d : dims) {
      if (std::find(total.dims.begin(), total.dims.end(), d) != total.dims.end()) continue;
      Term size = convert_term(module_, Scalar::f64, value_term(emit_size(d, node.mark, "count"), false));
      count = count.literal ? std::move(size) : combine(module_, ScalarOp::mul, {std::move(count), std::move(size)});
    }
    if (scalar == Scalar::f32) count = convert_term(module_, scalar, std::move(count));
    return combine(module_, ScalarOp::div, {std::move(total), std::move(count)});
  });
}

// The sum of the squares.
Term Lowering::squares_call(const Node& node, const std::string& hint) {
  const Term array = aggregated(node);
  Term squares = at(node.mark, [&] { return combine(module_, ScalarOp::mul, {charge(array), array}); });
  return reduce(function_node("add", node.mark), std::move(squares), node.args.size() == 2 ? &node.args[1] : nullptr,
                node.mark, hint);
}

// argmax(v), argmin(A, over F): the id of the largest or smallest element, by a reduction of pairs (element, id).
Term Lowering::place_call(const Node& node, const std::string&) {
  Term array = aggregated(node);
  if (!array.type().is_scalar() || !is_numeric(array.type().scalar())) {
    source_.fail(node.args[0].mark, fmt::format("{} of {}", node.text, show(module_, array.type())), "it takes numbers",
                 array.type().is_scalar() ? fmt::format("write {}(i64(x))", node.text) : "");
  }
  const std::vector<DimId> over = named_dims(array.dims, node.args.size() == 2 ? &node.args[1] : nullptr, node.mark);
  const std::vector<DimId> along = over.empty() ? array.dims : over;
  if (along.size() != 1) {
    source_.fail(node.mark, fmt::format("{} along {} of an array", node.text, show_dims(module_, along)),
                 "an index belongs to one dimension",
                 fmt::format("name one: {}(A, over {})", node.text, module_.dim(along.back()).name));
  }
  Term ids = value_term(emit_index(along[0], node.mark, "ids"), false);
  Term pairs = at(node.mark, [&] { return tuple_term(module_, {std::move(array), std::move(ids)}); });
  const ScalarOp before = node.text == "argmax" ? ScalarOp::gt : ScalarOp::lt;
  const FnId by = module_.add_function(first_of_pairs(node.text, pairs.type(), before));
  const ValueId first = emit_reduce(by, materialise(std::move(pairs), "pairs", node.mark), over, node.mark, "first");
  return component_term(value_term(first, false), 1);
}

}  // namespace kasen::lang
