#include "libcore/lang/calls/matrix_product.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "libcore/ir/layout.h"

namespace kasen::lang {

namespace {

bool reads(const Node& node, const std::string& name) {
  return (node.kind == NodeKind::name && node.text == name) ||
         std::any_of(node.args.begin(), node.args.end(), [&](const Node& arg) { return reads(arg, name); });
}

bool reads(const Statement& fn, const std::string& name) {
  const auto of = [&](const Node& node) { return reads(node, name); };
  return std::any_of(fn.value.begin(), fn.value.end(), of) ||
         std::any_of(fn.body.begin(), fn.body.end(), [&](const Statement& step) { return reads(step, name); });
}

}  // namespace

MatrixProducts::MatrixProducts(const Part& part, Calls& calls, Reducers& reducers, Folds& folds,
                               Contractions& contractions)
    : Part(part), calls_(calls), reducers_(reducers), folds_(folds), contractions_(contractions) {
  functions_.add({"mxv", "MxV", "mxvt", "MxVT"}, Functions::Name::kept,
                 [this](auto& node, auto& hint) { return call(node, hint); });
}

// The type that a null nonzero's 1 takes: that of the multiplier's second parameter, else the vector's element.
ElementType MatrixProducts::entry_type(const Node& fn, const ElementType& vector, const ElementType& matrix,
                                       Mark mark) {
  if (!matrix.is(Scalar::null)) return matrix;
  const Statement* user = functions_.fn(fn);
  const std::vector<ParamNode>& params = user != nullptr ? user->params : fn.params;  // a lambda's, or none
  ElementType type = vector;
  if (params.size() == 2 && !params[1].type.empty()) type = types_.element(params[1].type[0]);
  const bool open = params.size() == 2 && params[1].type.empty();
  const bool read = open && (user != nullptr ? reads(*user, params[1].name) : reads(fn, params[1].name));
  if (open && !read) type = ElementType::of(Scalar::f64);  // any type will do
  const bool has_one = type.is_scalar() && (is_numeric(type.scalar()) || type.is(Scalar::boolean));
  if (has_one) return type;
  source_.fail(mark, fmt::format("an entry of the null matrix has no value 1 of type {}", show(module_, type)),
               "an entry without a value counts as the constant 1 of the multiplier's second parameter",
               "give that parameter a type: fn f(x, entry: i64) = ...");
}

void MatrixProducts::require_fit(ValueId matrix, const Type& vector, bool transposed, Mark mark) const {
  const Type& type = module_.type(matrix);
  const std::string& name = builder_.base_name(matrix);
  const auto dim = [&](DimId d) -> const Dimension& { return module_.dim(d); };
  const DimId from = type.dims[transposed ? 1 : 0];
  const DimId to = type.dims[transposed ? 0 : 1];
  if (vector.dims.empty() || vector.dims[0] != from) {
    const bool other = !vector.dims.empty() && vector.dims[0] == to;
    const bool turned = vector.dims.size() == 2 && vector.dims[1] == from;
    source_.fail(mark,
                 fmt::format("the product with {0} needs an array over [{1}], or [{1}, ...], not {2}", name,
                             dim(from).name, show(module_, vector)),
                 fmt::format("{} is over {}; the product runs along its {}", name, show_dims(module_, type.dims),
                             transposed ? "columns" : "rows"),
                 other    ? fmt::format("use {}{} @ x", name, transposed ? "'" : "")
                 : turned ? fmt::format("transpose the other factor: as {}, it fits",
                                        show_dims(module_, {vector.dims[1], vector.dims[0]}))
                          : "");
  }
  const auto cut = std::find_if(vector.dims.begin() + 1, vector.dims.end(), [&](DimId d) { return !dim(d).local; });
  if (!type.sparse || cut == vector.dims.end()) return;
  source_.fail(mark, fmt::format("a product with columns over '{}', which is cut", dim(*cut).name),
               "every worker multiplies all columns of its rows",
               fmt::format("declare it local: dim {} local", dim(*cut).name));
}

Term MatrixProducts::multiply(const Node& times, const Node& plus, Term vector, Term matrix, bool transposed, Mark mark,
                              const std::string& hint) {
  if (formulas_.is_formula(matrix)) {
    return folds_.multiply(times, plus, std::move(vector), std::move(matrix), transposed, mark, hint);
  }
  const ValueId m = formulas_.is_sparse(matrix) ? matrix.leaves[0] : values_.materialise(std::move(matrix), "t", mark);
  const ValueId v = values_.materialise(std::move(vector), "t", mark);
  const Type mt = module_.type(m);
  const Type vt = module_.type(v);
  require_fit(m, vt, transposed, mark);
  const ElementType entry = entry_type(times, vt.element, mt.element, mark);
  const FnId plain = calls_.instantiate(times, {vt.element, entry}, mark, "multiply");
  const ElementType element = module_.fn(plain).result();
  const Reducer r = reducers_.with_mask(plus, element, mark);
  const FnId z = r.masked ? reducers_.mask(plain) : plain;
  if (!mt.sparse) {
    const ValueId made = of_dense(z, r.fn, v, m, transposed, mark, hint);
    return r.masked ? reducers_.unmask(made, element, r) : values_.term(made);
  }
  Type type{module_.fn(z).result(), vt.dims};
  type.dims[0] = mt.dims[transposed ? 0 : 1];
  const ValueId result = builder_.emit(
      {.code = transposed ? OpCode::mxvt : OpCode::mxv, .operands = {v, m}, .fns = {z, r.fn}}, mark, hint, type);
  return r.masked ? reducers_.unmask(result, element, r) : values_.term(result);
}

// Dense matrices of any dimensions: a contraction where no product of the IR takes them.
ValueId MatrixProducts::of_dense(FnId z, FnId r, ValueId vector, ValueId matrix, bool transposed, Mark mark,
                                 const std::string& hint) {
  const std::vector<DimId> rows = module_.type(matrix).dims, of = module_.type(vector).dims;
  Contractions::Dims dims{{'a', rows[0]}, {'b', rows[1]}};
  std::string columns;
  for (std::size_t i = 1; i < of.size(); ++i) {
    columns += static_cast<char>('b' + static_cast<char>(i));
    dims[columns.back()] = of[i];
  }
  const std::string kept = (transposed ? "a" : "b") + columns;
  const Labelled made =
      contractions_.summed(z, r, {vector, (transposed ? "b" : "a") + columns}, {matrix, "ab"}, kept, dims, mark, hint);
  return contractions_.arranged(made, kept, dims, mark, hint).array;
}

bool MatrixProducts::matrix_is_left(const Term& left, const Term& right) const {
  if (left.dims.size() != 2 || right.dims.size() != 2) return left.dims.size() == 2;
  return formulas_.is_entries(left) || !formulas_.is_entries(right);
}

void MatrixProducts::refuse_sparse_columns(const Term& vector, Mark mark) const {
  if (!formulas_.is_entries(vector)) return;
  formulas_.fail(vector, mark, "two sparse matrices, and no array that one of them is multiplied with",
                 "a product by functions of the program's own takes a vector, or columns",
                 "write A @ B for the sum of products");
}

// mxv of G' is mxvt of G: a transposed sparse matrix is not made for it.
Term MatrixProducts::matrix_or_vector(const Node& node, bool& turned) {
  if (node.kind == NodeKind::transpose && node.args[0].kind == NodeKind::name) {
    Term inner = evaluator_.eval(node.args[0]);
    if (formulas_.is_entries(inner)) {
      turned = true;
      return inner;
    }
  }
  return evaluator_.eval(node);
}

// mxv(times, plus, G, v): the matrix and its operand in either order.
Term MatrixProducts::call(const Node& node, const std::string& hint) {
  if (node.args.size() != 4) {
    source_.fail(node.mark, fmt::format("{} takes 4 arguments, not {}", node.text, node.args.size()), {},
                 fmt::format("write {}(*, +, G, x)", node.text));
  }
  bool turned = false;
  Term first = matrix_or_vector(node.args[2], turned);
  Term second = matrix_or_vector(node.args[3], turned);
  const bool matrix_first = matrix_is_left(first, second);
  Term& matrix = matrix_first ? first : second;
  Term& vector = matrix_first ? second : first;
  refuse_sparse_columns(vector, node.mark);
  if (matrix.dims.size() != 2) {
    source_.fail(node.mark, fmt::format("{} without a matrix", node.text),
                 fmt::format("its arguments are over {} and {}", show_dims(module_, first.dims),
                             show_dims(module_, second.dims)));
  }
  const bool transposed = (node.text == "mxvt" || node.text == "MxVT") != turned;
  return multiply(node.args[0], node.args[1], std::move(vector), std::move(matrix), transposed, node.mark, hint);
}

}  // namespace kasen::lang
