#include "libcore/lang/terms/formula.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "libcore/patterns/recipe.h"

namespace kasen::lang {
namespace {

// Leaves at one side of the nonzeros have numbers below those of parameters.
constexpr ValueId first_sided_leaf(-(1 << 28));

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

bool Formulas::is_sparse(const Term& term) const {
  return term.bare() && term.leaves.size() == 1 && term.leaves[0] >= 0 && module_.type(term.leaves[0]).sparse;
}

bool Formulas::is_entries(const Term& term) const {
  return std::any_of(term.leaves.begin(), term.leaves.end(), [&](ValueId leaf) {
    return leaf <= first_sided_leaf || (leaf >= 0 && module_.type(leaf).sparse);
  });
}

Term Formulas::sided_term(ValueId value, EntrySide side, std::vector<DimId> dims, Mark mark) {
  const Type& type = module_.type(value);
  const auto seen = seen_element(module_, type);
  if (!seen) {
    source_.fail(mark, fmt::format("'{}' is {}", builder_.base_name(value), show(module_, type)),
                 fmt::format("arrays beside entries hold scalars in at most {} columns, whose number plan knows",
                             most_point_coordinates),
                 fmt::format("write the size where the dimension is declared, dim {0} local = 20, or give -D {0}=20",
                             module_.dim(type.dims.back()).name));
  }
  return leaf_term(sided_leaf(value, side), *seen, std::move(dims));
}

ValueId Formulas::sided_leaf(ValueId value, EntrySide side) {
  const auto known = std::find_if(sided_.begin(), sided_.end(),
                                  [&](const SidedLeaf& s) { return s.value == value && s.side == side; });
  const auto place = static_cast<ValueId>(known - sided_.begin());
  if (known == sided_.end()) sided_.push_back({value, side});
  return ValueId(first_sided_leaf - place);
}

ValueId Formulas::find_matrix(const std::string& name) const {
  for (const Op& op : module_.body.ops)
    if (op.code == OpCode::input && op.name == name && !gives_values(module_, op)) return op.results.at(0);
  return no_value;
}

ValueId Formulas::matrix_called(const std::string& name) const {
  const ValueId matrix = find_matrix(name);
  if (matrix == no_value) throw InternalError("values at the nonzeros of no input");
  return matrix;
}

Term Formulas::product_term(Product product, const ElementType& type) {
  std::vector<DimId> dims = product.dims;
  const auto number = static_cast<int>(products_.size());
  products_.push_back(std::move(product));
  sided_.push_back({no_value, EntrySide::entries, number});
  return leaf_term(ValueId(first_sided_leaf - (static_cast<int>(sided_.size()) - 1)), type, std::move(dims));
}

std::string Formulas::pattern_name(ValueId leaf, Mark mark) const {
  if (leaf <= first_sided_leaf) {
    const SidedLeaf sided = side_of(leaf, no_value, mark);
    if (sided.product >= 0) return product(sided).pattern;
  }
  const ValueId matrix = pattern_of(leaf, mark);
  return matrix == no_value ? "" : builder_.matrix_name(matrix);
}

std::vector<std::string> Formulas::pattern_names(const Term& term, Mark mark) const {
  std::set<std::string> names;
  for (const ValueId leaf : term.leaves) names.insert(pattern_name(leaf, mark));
  names.erase("");
  return {names.begin(), names.end()};
}

bool Formulas::is_product(const Term& term, const std::string& pattern, Mark mark) const {
  return std::any_of(term.leaves.begin(), term.leaves.end(), [&](ValueId leaf) {
    const bool yet = is_yet_to_be_computed(leaf, mark);
    return yet && product(side_of(leaf, no_value, mark)).right_values != no_value &&
           pattern_name(leaf, mark) == pattern;
  });
}

bool Formulas::is_yet_to_be_computed(ValueId leaf, Mark mark) const {
  return leaf <= first_sided_leaf && side_of(leaf, no_value, mark).product >= 0;
}

bool Formulas::is_mixed(const Term& term, Mark mark) const {
  const std::vector<std::string> names = pattern_names(term, mark);
  return names.size() > 1 || std::any_of(term.leaves.begin(), term.leaves.end(),
                                         [&](ValueId leaf) { return is_yet_to_be_computed(leaf, mark); });
}

bool Formulas::may_be_there(const Term& term, const std::vector<std::string>& present, Mark mark) const {
  std::vector<bool> absent;
  for (const ValueId leaf : term.leaves) {
    const std::string name = pattern_name(leaf, mark);
    absent.push_back(!name.empty() && std::find(present.begin(), present.end(), name) == present.end());
  }
  return WhereAbsent(absent).value(term.expr) != std::optional(0.0);
}

std::vector<DimId> Formulas::own_dims(const Term& term, Mark mark) const {
  for (const ValueId leaf : term.leaves) {
    if (is_yet_to_be_computed(leaf, mark)) return product(side_of(leaf, no_value, mark)).dims;
    if (const ValueId matrix = pattern_of(leaf, mark); matrix != no_value) return module_.type(matrix).dims;
  }
  return term.dims;
}

Term Formulas::renamed(Term term, std::vector<DimId> to, Mark mark) {
  term = by_own_names(std::move(term), mark);
  for (ValueId& leaf : term.leaves) {
    const bool vector = leaf >= 0 && !module_.type(leaf).sparse && module_.type(leaf).dims.size() == 1;
    if (vector) leaf = sided_leaf(leaf, EntrySide::cols);
  }
  term.dims = std::move(to);
  term.named = false;
  return term;
}

Term Formulas::by_own_names(Term term, Mark mark) {
  const std::vector<DimId> own = own_dims(term, mark);
  if (own == term.dims || own.size() != 2 || own[0] != own[1]) return term;
  for (ValueId& leaf : term.leaves) {
    if (leaf < 0 || module_.type(leaf).sparse || module_.type(leaf).dims.size() != 1) continue;
    if (module_.type(leaf).dims != std::vector{own[0]}) {
      const std::string name = module_.dim(own[0]).name;
      source_.fail(mark,
                   fmt::format("a vector over [{}] beside a sparse matrix over {}",
                               module_.dim(module_.type(leaf).dims[0]).name, show_dims(module_, own)),
                   "another name of a dimension tells the matrix's axes apart, and cuts no vector as the matrix is cut",
                   fmt::format("take a vector over [{}]: it meets the axis of that name", name));
    }
    leaf = sided_leaf(leaf, term.dims[0] == own[0] ? EntrySide::rows : EntrySide::cols);
  }
  term.dims = own;
  return term;
}

Term Formulas::stored_term(ValueId value) {
  const Type& type = module_.type(value);
  const ValueId matrix = matrix_called(module_.dim(type.dims.at(0)).entries_of);
  return leaf_term(sided_leaf(value, EntrySide::entries), type.element, module_.type(matrix).dims);
}

bool Formulas::take_stored_alone(Term& formula, Mark mark) const {
  const ValueId matrix = matrix_of(formula, mark);
  std::vector<ValueId> leaves;
  DimId dim = no_dim;
  for (const ValueId leaf : formula.leaves) {
    const SidedLeaf sided = side_of(leaf, matrix, mark);
    const bool stored = sided.side == EntrySide::entries;
    if (stored) dim = module_.type(sided.value).dims.at(0);
    if (leaf == matrix || (!stored && sided.side != EntrySide::shared)) return false;
    leaves.push_back(sided.value);
  }
  if (dim == no_dim) return false;
  formula.leaves = std::move(leaves);
  formula.dims = {dim};
  return true;
}

// The matrix whose nonzeros a leaf lies at, or no_value.
ValueId Formulas::pattern_of(ValueId leaf, Mark mark) const {
  if (leaf >= 0) return module_.type(leaf).sparse ? leaf : no_value;
  if (leaf > first_sided_leaf) return no_value;
  const SidedLeaf sided = side_of(leaf, no_value, mark);
  if (sided.side != EntrySide::entries || sided.product >= 0) return no_value;
  return matrix_called(module_.dim(module_.type(sided.value).dims.at(0)).entries_of);
}

ValueId Formulas::matrix_of(const Term& formula, Mark mark) const {
  ValueId matrix = no_value;
  for (const ValueId leaf : formula.leaves) {
    const ValueId pattern = pattern_of(leaf, mark);
    if (pattern == no_value || pattern == matrix) continue;
    if (matrix != no_value && builder_.batches_of(matrix) != no_value) refuse_batches(matrix, mark);
    if (matrix != no_value) throw InternalError("entries of several patterns that are not aligned");
    matrix = pattern;
  }
  if (matrix == no_value) {
    source_.fail(mark, fmt::format("all pairs over {}", show_dims(module_, formula.dims)),
                 "U @ V' of two arrays that are cut is known where it meets stored entries",
                 "multiply it with a sparse matrix: X * (U @ V')");
  }
  return matrix;
}

void Formulas::refuse_batches(ValueId batch, Mark mark) const {
  source_.fail(mark,
               fmt::format("entries of a batch of '{}' beside those of another matrix", builder_.matrix_name(batch)),
               "where both store an entry is not known before the run, and no other batch has its entries there",
               "give the batch a name, B = at(X, t, over T), and use it alone; sums and products of each can be added");
}

// An input over two dimensions neither of which is local, as of rows and columns of a table; or no_value.
ValueId Formulas::meant_as_table(const Term& entries, Mark mark) const {
  for (const std::string& name : pattern_names(entries, mark)) {
    const std::optional<Recipe> recipe = is_recipe(name) ? parse_recipe(name) : std::nullopt;
    for (const std::string& input : recipe ? recipe_inputs(*recipe) : std::set{name}) {
      const ValueId matrix = find_matrix(input);
      if (matrix == no_value || !builder_.is_sparse_by_dims(matrix)) continue;
      const std::vector<DimId>& dims = module_.type(matrix).dims;
      if (dims[0] != dims[1] && !module_.dim(dims[1]).is_derived()) return matrix;
    }
  }
  return no_value;
}

void Formulas::fail(const Term& entries, Mark mark, const std::string& what, const std::string& why,
                    const std::string& remedy) const {
  const ValueId table = meant_as_table(entries, mark);
  if (table == no_value) source_.fail(mark, what, why, remedy);
  const std::string &rows = module_.dim(module_.type(table).dims[0]).name,
                    &columns = module_.dim(module_.type(table).dims[1]).name;
  source_.fail(mark, what,
               fmt::format("{} is a sparse matrix, since {} and {} are not local: {}", module_.value(table).name, rows,
                           columns, why),
               fmt::format("for a table write dim {} local; for a matrix {}", columns, remedy));
}

void Formulas::refuse(const Term& term, Mark mark) const {
  if (!is_entries(term)) return;
  const std::vector<std::string> names = pattern_names(term, mark);
  const std::string matrix = names.empty() ? module_.value(matrix_of(term, mark)).name : names[0];
  const bool input = !is_recipe(matrix);
  fail(
      term, mark,
      fmt::format("{} over {} where an array is meant", is_sparse(term) ? "a sparse matrix" : "stored entries",
                  show_dims(module_, term.dims)),
      is_sparse(term) ? "only its stored entries exist" : "what is computed at stored entries is no array of all pairs",
      "use it in sum(...), sum(..., over N), or a product with @" +
          (input ? fmt::format("; or declare the whole of {0} an array: input {0} : dense ...", matrix) : ""));
}

void Formulas::require_absent(const Term& term, Mark mark) const {
  if (!is_mixed(term, mark)) (void)matrix_of(term, mark);
  if (!may_be_there(term, {}, mark)) return;
  fail(term, mark, "this is not 0 where the matrix stores nothing",
       "only stored entries are met, and what is not stored counts as 0",
       "multiply with the matrix, as in X * log(U @ V'), or with (X != 0)");
}

// Scalars at the nonzeros of one matrix, and 0 where nothing is stored. What cannot be stored may be part of what can.
// What follows from the matrix's own values costs no more than to read it.
bool Formulas::worth_storing(const Term& term, Mark mark) const {
  if (is_mixed(term, mark)) return term.type().is_scalar() && !may_be_there(term, {}, mark);
  std::vector<bool> entry;
  ValueId matrix = no_value;
  bool reads_more = false;
  for (const ValueId leaf : term.leaves) {
    const ValueId pattern = pattern_of(leaf, mark);
    reads_more =
        reads_more || leaf <= first_sided_leaf || (leaf >= 0 && pattern != leaf && !module_.type(leaf).dims.empty());
    if (pattern != no_value) matrix = pattern;
    entry.push_back(pattern != no_value);
  }
  return reads_more && matrix != no_value && builder_.batches_of(matrix) == no_value && term.type().is_scalar() &&
         WhereAbsent(entry).value(term.expr) == std::optional(0.0);
}

// The side of a formula's leaf. A vector over N meets the columns of a square matrix, as it does elsewhere.
Formulas::SidedLeaf Formulas::side_of(ValueId leaf, ValueId matrix, Mark mark) const {
  if (leaf <= first_sided_leaf) return sided_[static_cast<size_t>(first_sided_leaf - leaf)];
  const Type& type = module_.type(leaf);
  if (leaf == matrix || type.dims.empty()) return {leaf, EntrySide::shared};
  if (type.dims.size() > 1) {
    fail(leaf_term(matrix, module_.type(matrix).element, module_.type(matrix).dims), mark,
         fmt::format("a dense array over {} beside stored entries", show_dims(module_, type.dims)),
         "arrays beside entries are over their rows or their columns",
         "declare the array sparse, with the same entries, or the matrix dense");
  }
  return {leaf, type.dims[0] == module_.type(matrix).dims[1] ? EntrySide::cols : EntrySide::rows};
}

}  // namespace kasen::lang
