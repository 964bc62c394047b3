#include "libcore/lang/calls/product.h"

#include <fmt/format.h>

#include <utility>

#include "libcore/lang/terms/operands.h"

namespace kasen::lang {

Products::Products(const Part& part, Calls& calls, Reducers& reducers, Folds& folds, MatrixProducts& matrix_products,
                   Reductions& reductions, Views& views, Contractions& contractions)
    : Part(part),
      calls_(calls),
      reducers_(reducers),
      folds_(folds),
      matrix_products_(matrix_products),
      reductions_(reductions),
      views_(views),
      contractions_(contractions) {
  functions_.add({"outer"}, Functions::Name::yields, [this](auto& node, auto& hint) { return outer_call(node, hint); });
}

// f of every pair of elements: an array over the dimensions of the first, then those of the second.
Term Products::outer(const Node& fn, std::vector<Term> args, Mark mark, const std::string& hint) {
  std::vector<DimId> dims = args[0].dims;
  for (const DimId d : args[1].dims) {
    if (contains(dims, d)) return square_outer(fn, std::move(args), mark, hint);
    dims.push_back(d);
  }
  for (Term& arg : args) {
    arg.dims = dims;
    arg.named = false;
  }
  Term result = calls_.apply(fn, std::move(args), mark);
  result.dims = std::move(dims);
  return result;
}

// Both have some dimension: names cannot tell which axis an element comes from.
Term Products::square_outer(const Node& fn, std::vector<Term> args, Mark mark, const std::string& hint) {
  const FnId z = calls_.instantiate(fn, {args[0].type(), args[1].type()}, mark, "outer");
  const ElementType made = module_.fn(z).result();
  const bool summed = made.is_scalar() && (is_numeric(made.scalar()) || made.is(Scalar::boolean));
  const bool vectors = args[0].dims.size() == 1 && args[1].dims.size() == 1;
  if (summed && vectors && module_.dim(args[0].dims[0]).local) return column_by_row(z, std::move(args), mark, hint);
  std::vector<Labelled> sides(2);
  Contractions::Dims labels;
  for (size_t i = 0; i < 2; ++i) {
    for (const DimId d : args[i].dims) {
      const char label = static_cast<char>('a' + labels.size());
      labels[label] = d;
      sides[i].labels += label;
    }
    sides[i].array = values_.materialise(std::move(args[i]), "t", mark);
  }
  const std::string result = sides[0].labels + sides[1].labels;
  return values_.term(contractions_.combined(z, sides[0], sides[1], result, labels, mark, hint).array);
}

// Vectors that every worker holds whole: as the product of a matrix of one column with one of one row. Every plan takes
// it, where a contraction would keep the whole program from the default layout.
Term Products::column_by_row(FnId z, std::vector<Term> args, Mark mark, const std::string& hint) {
  if (one_ == no_dim) one_ = builder_.add_dim({"of_one", true, 1});
  const DimId dim = args[0].dims[0];
  const auto spread = [&](Term vector, std::vector<DimId> dims) {
    vector.dims = std::move(dims);
    vector.named = false;
    return values_.materialise(std::move(vector), "t", mark);
  };
  const ValueId column = spread(std::move(args[0]), {dim, one_}), row = spread(std::move(args[1]), {one_, dim});
  const ElementType type = module_.fn(z).result();
  const FnId r = reducers_.plain(function_node(type.is(Scalar::boolean) ? "or" : "add", mark), type, mark);
  const Contractions::Dims labels{{'a', dim}, {'b', dim}, {'o', one_}};
  return values_.term(contractions_.summed(z, r, {column, "ao"}, {row, "ob"}, "ab", labels, mark, hint).array);
}

// outer(u, v), outer(f, u, v)
Term Products::outer_call(const Node& node, const std::string& hint) {
  const size_t first = node.args.size() == 3 ? 1 : 0;
  if (node.args.size() != 2 + first) {
    source_.fail(node.mark, fmt::format("outer of {} arguments", node.args.size()), "it takes two arrays",
                 "write outer(u, v), or outer(f, u, v)");
  }
  std::vector<Term> args = evaluator_.elements(node.args, first);
  for (size_t i = 0; i < 2; ++i) values_.require_array(args[i], node.args[first + i].mark, "outer");
  return outer(first == 1 ? node.args[0] : function_node("mul", node.mark), std::move(args), node.mark, hint);
}

Products::Side Products::side(const Node& node) {
  const bool turned = node.kind == NodeKind::transpose;
  Side side{evaluator_.eval(turned ? node.args[0] : node), turned};
  const std::vector<DimId>& dims = side.term.dims;
  if (turned && dims.size() != 2 && dims.size() != 1) views_.refuse_transpose(dims, node.mark);
  return side;
}

Term Products::transposed(const Node& node, const std::string& hint) {
  Term matrix = evaluator_.eval(node.args[0]);
  if (formulas_.is_entries(matrix)) return folds_.turned(std::move(matrix), node.mark);
  return views_.transposed(std::move(matrix), node.mark, hint);
}

Term Products::product(const Node& node, const std::string& hint) {
  Side left = side(node.args[0]);
  Side right = side(node.args[1]);
  refuse_mixed(source_, builder_, node.mark, "@", {{&node.args[0], &left.term}, {&node.args[1], &right.term}}, false);
  if (left.term.dims.size() == 1 && right.term.dims.size() == 1) {
    return of_vectors(node, std::move(left), std::move(right), hint);
  }
  if (right.turned && !left.turned && folds_.gives_pairs(left.term, right.term)) {
    return folds_.pairs(std::move(left.term), std::move(right.term), node.mark);
  }
  if (formulas_.is_entries(left.term) && formulas_.is_entries(right.term)) {
    return folds_.sparse_product({std::move(left.term), left.turned}, {std::move(right.term), right.turned}, node.mark,
                                 hint);
  }
  return of_matrix(node, std::move(left), std::move(right), hint);
}

Term Products::of_vectors(const Node& node, Side left, Side right, const std::string& hint) {
  std::vector<Term> pair;
  pair.push_back(evaluator_.require_element(std::move(left.term), node.args[0]));
  pair.push_back(evaluator_.require_element(std::move(right.term), node.args[1]));
  if (right.turned && !left.turned) return outer(function_node("mul", node.mark), std::move(pair), node.mark, hint);
  return reductions_.dot(std::move(pair), node.mark, hint);
}

Term Products::of_matrix(const Node& node, Side left, Side right, const std::string& hint) {
  const bool matrix_left = matrix_products_.matrix_is_left(left.term, right.term);
  Term& matrix = matrix_left ? left.term : right.term;
  Term& vector = matrix_left ? right.term : left.term;
  if (matrix.dims.size() != 2 || vector.dims.empty()) {
    source_.fail(node.mark,
                 fmt::format("'@' of arrays over {} and {}", show_dims(module_, left.term.dims),
                             show_dims(module_, right.term.dims)),
                 "it takes a matrix and a vector or an array of columns, or two vectors",
                 "put brackets around the product that comes first");
  }
  matrix_products_.refuse_sparse_columns(vector, node.mark);
  const bool columns = vector.dims.size() > 1;
  if (columns && !matrix_left) {
    source_.fail(node.mark, "an array of columns times a matrix",
                 "the matrix stands on the left of the columns that it multiplies",
                 fmt::format("write {} @ B, which gives the columns of the result", right.turned ? "G" : "G'"));
  }
  if (columns && right.turned) vector = views_.transposed(std::move(vector), node.args[1].mark, "turned");
  const bool logic = vector.type().is(Scalar::boolean);
  const bool turned = matrix_left ? left.turned : right.turned;
  if (formulas_.is_formula(matrix)) formulas_.require_absent(matrix, node.mark);
  return matrix_products_.multiply(function_node(logic ? "and" : "mul", node.mark),
                                   function_node(logic ? "or" : "add", node.mark), std::move(vector), std::move(matrix),
                                   matrix_left != turned, node.mark, hint);
}

}  // namespace kasen::lang
