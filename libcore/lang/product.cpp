// Products: of a matrix with a vector, and of two vectors.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "libcore/lang/lower.h"

namespace kasen::lang {

// The type that a null nonzero's 1 takes: that of the multiplier's second parameter, else the vector's element.
ElementType Lowering::entry_type(const Node& fn, const ElementType& vector, const ElementType& matrix, Mark mark) {
  if (!matrix.is(Scalar::null)) return matrix;
  const std::vector<ParamNode>* params = nullptr;
  if (fn.kind == NodeKind::lambda) params = &fn.params;
  if (fn.kind == NodeKind::name && functions_.contains(fn.text)) params = &functions_.at(fn.text)->params;
  ElementType type = vector;
  if (params != nullptr && params->size() == 2 && !(*params)[1].type.empty()) {
    type = element_type((*params)[1].type[0]);
  }
  const bool has_one = type.is_scalar() && (is_numeric(type.scalar()) || type.is(Scalar::boolean));
  if (has_one) return type;
  source_.fail(mark, fmt::format("an entry of the null matrix has no value 1 of type {}", show(module_, type)),
               "an entry without a value counts as the constant 1 of the multiplier's second parameter",
               "give that parameter a type: fn f(x, entry: i64) = ...");
}

Term Lowering::multiply(const Node& times, const Node& plus, Term vector, Term matrix, bool transposed, Mark mark,
                        const std::string& hint) {
  const ValueId m = materialise(std::move(matrix), "t", mark);
  const ValueId v = materialise(std::move(vector), "t", mark);
  const Type mt = module_.type(m);
  const Type vt = module_.type(v);
  const DimId from = mt.dims[transposed ? 1 : 0];
  const DimId to = mt.dims[transposed ? 0 : 1];
  const std::string& matrix_name = base_names_[static_cast<size_t>(m)];
  const bool by_columns = !mt.sparse && module_.dim(mt.dims[0]).local && !module_.dim(mt.dims[1]).local;
  if (by_columns) {
    source_.fail(
        mark, fmt::format("{} is cut along its columns", matrix_name),
        fmt::format("dimension '{}' is local, and products take dense matrices by rows", module_.dim(mt.dims[0]).name),
        "exchange its dimensions");
  }
  if (vt.dims.empty() || vt.dims[0] != from) {
    const bool other = !vt.dims.empty() && vt.dims[0] == to;
    source_.fail(mark,
                 fmt::format("the product with {} needs an array over [{}], or [{}, ...], not {}", matrix_name,
                             module_.dim(from).name, module_.dim(from).name, show(module_, vt)),
                 fmt::format("{} is over {}; the product runs along its {}", matrix_name, show_dims(module_, mt.dims),
                             transposed ? "columns" : "rows"),
                 other ? fmt::format("use {}{} @ x", matrix_name, transposed ? "'" : "") : "");
  }
  const auto cut = std::find_if(vt.dims.begin() + 1, vt.dims.end(), [&](DimId d) { return !module_.dim(d).local; });
  if (cut != vt.dims.end()) {
    const std::string& name = module_.dim(*cut).name;
    source_.fail(mark, fmt::format("a product with columns over '{}', which is cut", name),
                 "every worker multiplies all columns of its rows",
                 fmt::format("declare it local: dim {} local", name));
  }
  const ElementType entry = entry_type(times, vt.element, mt.element, mark);
  const FnId plain = instantiate(times, {vt.element, entry}, mark, "multiply");
  const ElementType element = module_.fn(plain).result();
  const Reducer r = reducer_with_mask(plus, element, mark);
  const FnId z = r.masked ? with_mask(plain) : plain;
  Type type;
  type.element = module_.fn(z).result();
  type.dims = {to};
  type.dims.insert(type.dims.end(), vt.dims.begin() + 1, vt.dims.end());
  const ValueId result = emit(transposed ? OpCode::mxvt : OpCode::mxv, mark, hint, type, [&](Op& op) {
    op.fns = {z, r.fn};
    op.operands = {v, m};
  });
  return r.masked ? without_mask(result, element, r) : value_term(result, false);
}

bool Lowering::is_sparse(const Term& term) const {
  return term.bare() && term.leaves.size() == 1 && term.leaves[0] >= 0 && module_.type(term.leaves[0]).sparse;
}

// Of two arrays, the matrix is the one of rank 2, or the sparse one, or the left one. The other has its vector or
// columns.
bool Lowering::matrix_is_left(const Term& left, const Term& right) const {
  if (left.dims.size() != 2 || right.dims.size() != 2) return left.dims.size() == 2;
  return is_entries(left) || !is_entries(right);
}

void Lowering::refuse_sparse_columns(const Term& vector, Mark mark) const {
  if (!is_entries(vector)) return;
  source_.fail(mark, "there is no product of two sparse matrices",
               "its result would be one, and only inputs are sparse", "write (A @ B) @ v as A @ (B @ v)");
}

// mxv(times, plus, G, v): the matrix and its operand in either order.
Term Lowering::product_call(const Node& node, const std::string& hint) {
  if (node.args.size() != 4) {
    source_.fail(node.mark, fmt::format("{} takes 4 arguments, not {}", node.text, node.args.size()), {},
                 fmt::format("write {}(*, +, G, x)", node.text));
  }
  Term first = eval(node.args[2]);
  Term second = eval(node.args[3]);
  const bool matrix_first = matrix_is_left(first, second);
  Term& matrix = matrix_first ? first : second;
  Term& vector = matrix_first ? second : first;
  refuse_sparse_columns(vector, node.mark);
  if (matrix.dims.size() != 2) {
    source_.fail(node.mark, fmt::format("{} without a matrix", node.text),
                 fmt::format("its arguments are over {} and {}", show_dims(module_, first.dims),
                             show_dims(module_, second.dims)));
  }
  const bool transposed = node.text == "mxvt" || node.text == "MxVT";
  if (is_entries(matrix) && !is_sparse(matrix)) {
    return multiply_entries(node.args[0], node.args[1], std::move(vector), std::move(matrix), transposed, node.mark,
                            hint);
  }
  return multiply(node.args[0], node.args[1], std::move(vector), std::move(matrix), transposed, node.mark, hint);
}

// f of every pair of elements: an array over the dimensions of the first, then those of the second.
Term Lowering::outer(const Node& fn, std::vector<Term> args, Mark mark) {
  std::vector<DimId> dims = args[0].dims;
  for (const DimId d : args[1].dims) {
    if (std::find(dims.begin(), dims.end(), d) != dims.end()) {
      source_.fail(mark, fmt::format("an outer product over {} twice", module_.dim(d).name),
                   "arrays meet by the names of their dimensions", "use a second dimension of the same size");
    }
    dims.push_back(d);
  }
  for (Term& arg : args) {
    arg.dims = dims;
    arg.named = false;
  }
  Term result = apply_function(fn, std::move(args), mark);
  result.dims = std::move(dims);
  return result;
}

// outer(u, v), outer(f, u, v)
Term Lowering::outer_call(const Node& node, const std::string&) {
  const size_t first = node.args.size() == 3 ? 1 : 0;
  if (node.args.size() != 2 + first) {
    source_.fail(node.mark, fmt::format("outer of {} arguments", node.args.size()), "it takes two arrays",
                 "write outer(u, v), or outer(f, u, v)");
  }
  std::vector<Term> args = elements(node.args, first);
  for (size_t i = 0; i < 2; ++i) require_array(args[i], node.args[first + i].mark, "outer");
  return outer(first == 1 ? node.args[0] : function_node("mul", node.mark), std::move(args), node.mark);
}

// G @ x, G' @ x, x @ G (the same as G' @ x), G @ B and G' @ B with columns. a @ b of vectors is the same as dot, and a
// @ b' the same as outer. For bool these use and, or.
Term Lowering::product(const Node& node, const std::string& hint) {
  if (in_function()) source_.fail(node.mark, "'@' inside a function", "functions work on elements, products on arrays");
  const auto side = [&](const Node& n, bool& turned) {
    turned = n.kind == NodeKind::transpose;
    Term term = eval(turned ? n.args[0] : n);
    if (turned && term.dims.size() != 2 && term.dims.size() != 1) refuse_transpose(term.dims, n.mark);
    return term;
  };
  bool left_turned = false;
  bool right_turned = false;
  Term left = side(node.args[0], left_turned);
  Term right = side(node.args[1], right_turned);
  if (left.dims.size() == 1 && right.dims.size() == 1) {
    std::vector<Term> pair;
    pair.push_back(require_element(std::move(left), node.args[0]));
    pair.push_back(require_element(std::move(right), node.args[1]));
    if (right_turned && !left_turned) return outer(function_node("mul", node.mark), std::move(pair), node.mark);
    Term pairs = at(node.mark, [&] { return combine(module_, ScalarOp::mul, std::move(pair)); });
    return reduce(function_node("add", node.mark), std::move(pairs), nullptr, node.mark, hint);
  }
  if (right_turned && !left_turned && gives_pairs(left, right)) {
    return pairs_product(std::move(left), std::move(right), node.mark);
  }
  const bool matrix_left = matrix_is_left(left, right);
  Term& matrix = matrix_left ? left : right;
  Term& vector = matrix_left ? right : left;
  if (matrix.dims.size() != 2 || vector.dims.empty()) {
    source_.fail(
        node.mark,
        fmt::format("'@' of arrays over {} and {}", show_dims(module_, left.dims), show_dims(module_, right.dims)),
        "it takes a matrix and a vector or an array of columns, or two vectors",
        "put brackets around the product that comes first");
  }
  refuse_sparse_columns(vector, node.mark);
  const bool columns = vector.dims.size() > 1;
  if (columns && !matrix_left) {
    source_.fail(node.mark, "an array of columns times a matrix",
                 "the matrix stands on the left of the columns that it multiplies",
                 fmt::format("write {} @ B, which gives the columns of the result", right_turned ? "G" : "G'"));
  }
  if (columns && right_turned) vector = transposed(std::move(vector), node.args[1].mark, "turned");
  const bool logic = vector.type().is(Scalar::boolean);
  const bool turned = matrix_left ? left_turned : right_turned;
  if (is_entries(matrix) && !is_sparse(matrix)) {
    require_absent(matrix, node.mark);
    return multiply_entries(function_node(logic ? "and" : "mul", node.mark),
                            function_node(logic ? "or" : "add", node.mark), std::move(vector), std::move(matrix),
                            matrix_left != turned, node.mark, hint);
  }
  return multiply(function_node(logic ? "and" : "mul", node.mark), function_node(logic ? "or" : "add", node.mark),
                  std::move(vector), std::move(matrix), matrix_left != turned, node.mark, hint);
}

}  // namespace kasen::lang
