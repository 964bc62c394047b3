// Element-wise work on a sparse matrix. It has no value of its own: an expression over nonzeros is a formula. The sums
// and products that use it compute it for each nonzero (operators fold_rows and fold_cols, entries.h).
#include "libcore/ir/entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "libcore/lang/lower.h"
#include "libcore/laws/laws.h"

namespace kasen::lang {
namespace {

// Leaves at one side of the nonzeros have numbers below those of parameters.
constexpr ValueId first_sided_leaf = -(1 << 28);

double number_of(Scalar scalar, Word word) { return is_float(scalar) ? word.f : static_cast<double>(word.i); }
Word word_of(Scalar scalar, double number) {
  return is_float(scalar) ? Word::real(number) : Word::integer(static_cast<std::int64_t>(number));
}

// The value of an expression where nothing is stored, if it does not depend on its other parameters.
class WhereAbsent {
 public:
  explicit WhereAbsent(const std::vector<bool>& entry) : entry_(entry) {}

  // Each argument is evaluated once: expressions are deep.
  [[nodiscard]] std::optional<double> value(const Expr& e) const {
    if (e.op == ScalarOp::constant) {
      return e.type.is_scalar() ? std::optional(number_of(e.type.scalar(), e.literal)) : std::nullopt;
    }
    if (e.op == ScalarOp::param) return entry_[static_cast<size_t>(e.index)] ? std::optional(0.0) : std::nullopt;
    Known known;
    for (const Expr& arg : e.args) known.push_back(arg.type.is_scalar() ? value(arg) : std::nullopt);
    const auto zero = [&](size_t i) { return known[i] == std::optional(0.0); };
    switch (e.op) {
      case ScalarOp::mul:
      case ScalarOp::logical_and:
        return zero(0) || zero(1) ? std::optional(0.0) : plain(e, known);
      case ScalarOp::div:
        return zero(0) ? std::optional(0.0) : plain(e, known);
      case ScalarOp::select:
        if (known[0]) return known[*known[0] != 0 ? 1 : 2];
        return known[1] == known[2] ? known[1] : std::nullopt;
      case ScalarOp::cast:
      case ScalarOp::sum_over:
        return zero(0) ? std::optional(0.0) : std::nullopt;
      default:
        return row(e.op).result == ResultRule::special ? std::nullopt : plain(e, known);
    }
  }

 private:
  using Known = std::vector<std::optional<double>>;

  static std::optional<double> plain(const Expr& e, const Known& known) {
    std::vector<Word> words;
    const Scalar operand = e.args.at(0).type.scalar();
    for (const std::optional<double>& number : known) {
      if (!number) return std::nullopt;
      words.push_back(word_of(operand, *number));
    }
    return number_of(e.type.scalar(), evaluate_op(e.op, operand, words));
  }

  const std::vector<bool>& entry_;
};

}  // namespace

bool Lowering::is_entries(const Term& term) const {
  return std::any_of(term.leaves.begin(), term.leaves.end(), [&](ValueId leaf) {
    return leaf <= first_sided_leaf || (leaf >= 0 && module_.type(leaf).sparse);
  });
}

// A sparse matrix in element-wise work. The nonzeros of a null matrix are the number 1.
Term Lowering::entries_term(Term matrix) const {
  const ValueId leaf = matrix.leaves.at(0);
  if (module_.type(leaf).element.is(Scalar::null)) matrix.expr = make_param(0, ElementType::of(Scalar::f64));
  matrix.named = false;
  return matrix;
}

// An array at the rows or columns of nonzeros over `dims`: its element, or the point of all its columns.
Term Lowering::sided_term(ValueId value, EntrySide side, std::vector<DimId> dims, Mark mark) {
  const Type& type = module_.type(value);
  const auto seen = seen_element(module_, type);
  if (!seen) {
    source_.fail(mark, fmt::format("'{}' is {}", base_names_[static_cast<size_t>(value)], show(module_, type)),
                 fmt::format("arrays beside entries hold scalars in at most {} columns, whose number plan knows",
                             most_point_coordinates),
                 fmt::format("write the size where the dimension is declared: dim {} local = 20",
                             module_.dim(type.dims.back()).name));
  }
  const auto known = std::find_if(sided_.begin(), sided_.end(),
                                  [&](const SidedLeaf& s) { return s.value == value && s.side == side; });
  const auto place = static_cast<ValueId>(known - sided_.begin());
  if (known == sided_.end()) sided_.push_back({value, side});
  return leaf_term(first_sided_leaf - place, *seen, std::move(dims));
}

// U @ V' of arrays over [N, K] and [M, K], both cut: known only at the nonzeros of a matrix over [N, M].
Term Lowering::pairs_product(Term left, Term right, Mark mark) {
  const std::vector<DimId> dims{left.dims[0], right.dims[0]};
  const std::int64_t columns = module_.dim(left.dims[1]).size;
  Term u = sided_term(materialise(std::move(left), "t", mark), EntrySide::rows, dims, mark);
  Term v = sided_term(materialise(std::move(right), "t", mark), EntrySide::cols, dims, mark);
  return at(mark, [&] {
    const int number = loops_++;
    Term j;
    j.expr = make_loop_var(number);
    std::vector<Term> factors{element_term(module_, std::move(u), j), element_term(module_, std::move(v), j)};
    return loop_term(ScalarOp::sum_over, number, columns, combine(module_, ScalarOp::mul, std::move(factors)));
  });
}

bool Lowering::gives_pairs(const Term& left, const Term& right) const {
  const auto columns = [&](const Term& t) {
    return t.dims.size() == 2 && !is_entries(t) && !module_.dim(t.dims[0]).local && module_.dim(t.dims[1]).local;
  };
  return columns(left) && columns(right) && left.dims[1] == right.dims[1];
}

// A name of a formula is the formula, with the values that its names have at this position.
bool Lowering::define_formula(const std::string& name, const Term& term, Mark mark) {
  if (!is_entries(term) || is_sparse(term)) return false;
  const Binding* known = find(name);
  if (known != nullptr && known->kind == Binding::Kind::value) {
    source_.fail(mark,
                 fmt::format("'{}' is {} and would become an expression over stored entries", name,
                             show(module_, module_.type(known->id))),
                 "a name keeps its type and its dimensions", "choose another name");
  }
  Binding formula;
  formula.kind = Binding::Kind::formula;
  formula.term = term;
  formula.term.named = false;
  scopes_.back()[name] = std::move(formula);
  return true;
}

// The one sparse matrix of a formula; pairs alone have none.
ValueId Lowering::matrix_of(const Term& formula, Mark mark) const {
  ValueId matrix = no_value;
  for (const ValueId leaf : formula.leaves) {
    if (leaf < 0 || !module_.type(leaf).sparse || leaf == matrix) continue;
    if (matrix != no_value) {
      source_.fail(mark, "two sparse matrices in one expression", "their entries are at different positions",
                   "partition one matrix whose entries have both values");
    }
    matrix = leaf;
  }
  if (matrix == no_value) {
    source_.fail(mark, fmt::format("all pairs over {}", show_dims(module_, formula.dims)),
                 "U @ V' of two arrays that are cut is known where it meets stored entries",
                 "multiply it with a sparse matrix: X * (U @ V')");
  }
  return matrix;
}

// Refuses a formula where an array is required.
void Lowering::refuse_entries(const Term& term, Mark mark) const {
  if (!is_entries(term) || is_sparse(term)) return;
  (void)matrix_of(term, mark);
  source_.fail(mark, fmt::format("stored entries over {} where an array is meant", show_dims(module_, term.dims)),
               "an expression over stored entries has no array of its own: sums and products compute it as they go",
               "use it in sum(...), sum(..., over N), or a product with @");
}

// In sums and products, the value where nothing is stored must be 0.
void Lowering::require_absent(const Term& term, Mark mark) const {
  const ValueId matrix = matrix_of(term, mark);
  std::vector<bool> entry;
  for (const ValueId leaf : term.leaves) entry.push_back(leaf == matrix);
  if (WhereAbsent(entry).value(term.expr) == std::optional(0.0)) return;
  source_.fail(mark, "this is not 0 where the matrix stores nothing",
               "only stored entries are met, and what is not stored counts as 0",
               "multiply with the matrix, as in X * log(U @ V'), or with (X != 0)");
}

// The side of a formula's leaf. A vector over N meets the columns of a square matrix, as it does elsewhere.
Lowering::SidedLeaf Lowering::side_of(ValueId leaf, ValueId matrix, Mark mark) const {
  if (leaf <= first_sided_leaf) return sided_[static_cast<size_t>(first_sided_leaf - leaf)];
  const Type& type = module_.type(leaf);
  if (leaf == matrix || type.dims.empty()) return {leaf, EntrySide::shared};
  if (type.dims.size() > 1) {
    source_.fail(mark, fmt::format("a dense array over {} beside stored entries", show_dims(module_, type.dims)),
                 "arrays beside entries are over their rows or their columns",
                 "declare the array sparse, with the same entries, or the matrix dense");
  }
  return {leaf, type.dims[0] == module_.type(matrix).dims[1] ? EntrySide::cols : EntrySide::rows};
}

// Each side needs an operand. If it has none, adds one that nothing reads.
void Lowering::cover_side(Term& formula, ValueId matrix, EntrySide side, Mark mark) {
  const bool some = std::any_of(formula.leaves.begin(), formula.leaves.end(),
                                [&](ValueId leaf) { return side_of(leaf, matrix, mark).side == side; });
  if (some) return;
  Type truth{ElementType::of(Scalar::boolean), {}, false, 0, {}};
  truth.dims = {module_.type(matrix).dims[side == EntrySide::rows ? 0 : 1]};
  const ValueId every = emit(OpCode::fill, mark, "every", truth, [](Op& op) { op.literal = {Word::integer(1)}; });
  // The side is explicit, since a plain vector is at the columns of a square matrix.
  formula.leaves.push_back(sided_term(every, side, {}, mark).leaves[0]);
}

// The operator that computes a formula for every nonzero and combines the results by rows or columns to an array over
// `dims`.
ValueId Lowering::emit_fold(Term formula, FnId reducer, EntrySide side, std::vector<DimId> dims, Mark mark,
                            const std::string& hint) {
  const ValueId matrix = matrix_of(formula, mark);
  cover_side(formula, matrix, side == EntrySide::rows ? EntrySide::cols : EntrySide::rows, mark);
  const ElementType& stored = module_.type(matrix).element;
  std::vector<ScalarParam> params{{"entry", stored.is(Scalar::null) ? ElementType::of(Scalar::f64) : stored, {}}};
  std::vector<ValueId> operands{matrix};
  std::vector<ValueId> leaves(formula.leaves.size(), parameter_leaf(0));
  int at_rows = 0;
  for (const EntrySide now : {EntrySide::rows, EntrySide::cols, EntrySide::shared}) {
    const auto first = static_cast<std::ptrdiff_t>(operands.size());
    for (size_t i = 0; i < formula.leaves.size(); ++i) {
      const SidedLeaf leaf = side_of(formula.leaves[i], matrix, mark);
      if (leaf.value == matrix || leaf.side != now) continue;
      const auto same = std::find(operands.begin() + first, operands.end(), leaf.value);
      const auto place = static_cast<int>(same - operands.begin());
      leaves[i] = parameter_leaf(place);
      if (same != operands.end()) continue;
      operands.push_back(leaf.value);
      const std::string& name = base_names_[static_cast<size_t>(leaf.value)];
      params.push_back({fmt::format("{}_{}", name, place), *seen_element(module_, module_.type(leaf.value)), {}});
    }
    if (now == EntrySide::rows) at_rows = static_cast<int>(operands.size()) - 1;
  }
  formula.leaves = std::move(leaves);
  ValueId stray = no_value;
  const FnId fn = module_.add_function(finish_function(formula, std::move(params), "f_" + hint, stray));
  Type type;
  type.element = module_.fn(reducer).result();
  type.dims = std::move(dims);
  return emit(side == EntrySide::rows ? OpCode::fold_rows : OpCode::fold_cols, mark, hint, type, [&](Op& op) {
    op.fns = {fn, reducer};
    op.operands = operands;
    op.at_rows = at_rows;
  });
}

// sum(X * w), sum(X * w, over M): reduces rows, columns, or all by rows and then over the rows.
Term Lowering::reduce_entries(const Node& fn, Term entries, const Node* over, Mark mark, const std::string& hint) {
  require_absent(entries, mark);
  const std::vector<DimId> dims = entries.dims;
  const std::vector<DimId> gone = named_dims(dims, over, mark);
  const FnId by = reducer(fn, entries.type(), mark);
  const auto identity = reducer_identity(module_.fn(by));
  const bool from_zero =
      identity && entries.type().is_scalar() && number_of(entries.type().scalar(), (*identity)[0]) == 0;
  if (!from_zero) {
    source_.fail(mark, fmt::format("'{}' of stored entries", module_.fn(by).name),
                 "what is not stored counts as 0, and this reduction would have to meet it",
                 "for stored entries alone write mxvt(z, r, G, x), with a multiplier and a reducer");
  }
  const EntrySide side = gone.empty() || gone[0] == dims[1] ? EntrySide::rows : EntrySide::cols;
  const std::string name = hint.empty() ? "t" : hint;
  const ValueId folded =
      emit_fold(std::move(entries), by, side, {dims[side == EntrySide::rows ? 0 : 1]}, mark, gone.empty() ? "t" : name);
  return value_term(gone.empty() ? emit_reduce(by, folded, {}, mark, name) : folded, false);
}

// (X * w) @ v, (X * w)' @ B: each nonzero of the formula times the operand at its other side.
Term Lowering::multiply_entries(const Node& times, const Node& plus, Term vector, Term entries, bool transposed,
                                Mark mark, const std::string& hint) {
  const std::vector<DimId> dims = entries.dims;
  const ValueId v = materialise(std::move(vector), "t", mark);
  const Type type = module_.type(v);
  const DimId from = dims[transposed ? 1 : 0], to = dims[transposed ? 0 : 1];
  const bool fits = !type.dims.empty() && type.dims[0] == from &&
                    std::all_of(type.dims.begin() + 1, type.dims.end(), [&](DimId d) { return module_.dim(d).local; });
  if (!fits) {
    source_.fail(mark,
                 fmt::format("the product needs an array over [{}], or [{}, ...] with local dimensions, not {}",
                             module_.dim(from).name, module_.dim(from).name, show(module_, type)),
                 fmt::format("the entries are over {}; the product runs along their {}", show_dims(module_, dims),
                             transposed ? "columns" : "rows"));
  }
  Term term = sided_term(v, transposed ? EntrySide::cols : EntrySide::rows, dims, mark);
  const bool points = type.dims.size() > 1;
  const int number = points ? loops_++ : 0;
  const std::int64_t columns = point_columns(module_, type);
  if (points) {
    Term j;
    j.expr = make_loop_var(number);
    term = at(mark, [&] { return element_term(module_, std::move(term), std::move(j)); });
  }
  const ValueId matrix = matrix_of(entries, mark);
  Term product = apply_function(times, {std::move(term), std::move(entries)}, mark);
  // A multiplier that does not read the nonzero still runs once for each of them.
  if (std::find(product.leaves.begin(), product.leaves.end(), matrix) == product.leaves.end()) {
    product.leaves.push_back(matrix);
  }
  if (points && !product.type().is_scalar()) {
    source_.fail(mark, fmt::format("entries with columns give {}", show(module_, product.type())),
                 "each column of the result holds a scalar", "take one column at a time: a vector in their place");
  }
  const ElementType element = product.type();
  const Reducer by = reducer_with_mask(plus, element, mark);
  if (by.masked && points) {
    source_.fail(mark, fmt::format("'{}' has no identity element", module_.fn(by.fn).name),
                 "each column of the result holds a scalar, and no flag that shows whether it holds a value",
                 "take one column at a time: a vector in their place");
  }
  if (by.masked) product = with_mask(product);
  if (points) product = at(mark, [&] { return loop_term(ScalarOp::build, number, columns, std::move(product)); });
  std::vector<DimId> made{to};
  made.insert(made.end(), type.dims.begin() + 1, type.dims.end());
  const EntrySide side = transposed ? EntrySide::rows : EntrySide::cols;
  const ValueId result = emit_fold(std::move(product), by.fn, side, std::move(made), mark, hint.empty() ? "t" : hint);
  return by.masked ? without_mask(result, element, by) : value_term(result, false);
}

}  // namespace kasen::lang
