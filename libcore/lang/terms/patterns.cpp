#include "libcore/lang/terms/patterns.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "libcore/patterns/recipe.h"

namespace kasen::lang {
namespace {

constexpr std::size_t most_patterns = 6;  // of one expression: all their sets are tried

std::vector<std::string> chosen(const std::vector<std::string>& names, std::uint32_t set) {
  std::vector<std::string> some;
  for (std::size_t k = 0; k < names.size(); ++k)
    if ((set >> k & 1) != 0) some.push_back(names[k]);
  return some;
}

}  // namespace

// The least sets of matrices that must store an entry.
std::string Patterns::pattern_of(const Term& term, Mark mark) const {
  const std::vector<std::string> names = formulas_.pattern_names(term, mark);
  if (names.size() > most_patterns) {
    source_.fail(mark, fmt::format("{} sparse matrices in one expression", names.size()),
                 fmt::format("at most {} can be", most_patterns), "give a part of it a name that is read twice");
  }
  std::vector<std::uint32_t> sets, least;
  for (std::uint32_t set = 1; set < std::uint32_t{1} << names.size(); ++set) sets.push_back(set);
  std::stable_sort(sets.begin(), sets.end(), [](auto a, auto b) { return std::popcount(a) < std::popcount(b); });
  for (const std::uint32_t set : sets) {
    const bool known =
        std::any_of(least.begin(), least.end(), [&](std::uint32_t part) { return (part & set) == part; });
    if (!known && formulas_.may_be_there(term, chosen(names, set), mark)) least.push_back(set);
  }
  // A product is computed where all else stores an entry.
  std::vector<std::vector<std::string>> alternatives;
  for (const std::uint32_t set : least) {
    std::vector<std::string> all = chosen(names, set), stored;
    std::copy_if(all.begin(), all.end(), std::back_inserter(stored),
                 [&](const std::string& name) { return !formulas_.is_product(term, name, mark); });
    alternatives.push_back(stored.empty() ? std::move(all) : std::move(stored));
  }
  return alternatives.empty() ? names[0] : pattern_of_sets(alternatives);
}

ValueId Patterns::matrix_called(const std::string& name, const std::vector<DimId>& dims, Mark mark) {
  if (const ValueId known = formulas_.find_matrix(name); known != no_value) return known;
  if (!parse_recipe(name)) {
    source_.fail(mark, "an expression of too many sparse matrices", "its pattern follows from all of theirs",
                 "compute parts of it in programs of their own");
  }
  Type type{ElementType::of(Scalar::null), dims};
  type.sparse = true;
  return builder_.add_input(name, mark, recipe_word(name), std::move(type));
}

void Patterns::require_fixed(ValueId matrix, Mark mark) const {
  if (builder_.batches_of(matrix) == no_value) return;
  source_.fail(mark,
               fmt::format("values at the entries of a batch of '{}' would be stored", builder_.matrix_name(matrix)),
               "every batch has entries of its own, and no array lies at them",
               "write the expression where it is read, in sum(...), sum(..., over N) or a product with @");
}

DimId Patterns::entries_dim_of(ValueId matrix, Mark mark) {
  require_fixed(matrix, mark);
  const std::string name = builder_.matrix_name(matrix);
  if (const DimId known = entries_dim(module_, name); known != no_dim) return known;
  std::string own = recipe_word(name) + "_entries";
  while (module_.find_dim(own) != no_dim) own += '_';
  Dimension dim;
  dim.name = std::move(own);
  dim.entries_of = name;
  return builder_.add_dim(std::move(dim));
}

ValueId Patterns::places(ValueId matrix, bool turned, Mark mark) {
  const std::vector<DimId> dims = module_.type(matrix).dims;
  const ElementType& stored = module_.type(matrix).element;
  ScalarFunction fn;
  fn.name = turned ? "place_turned" : "place";
  fn.params = {{"entry", stored.is(Scalar::null) ? ElementType::of(Scalar::f64) : stored, {}},
               {"i", ElementType::id(dims[0]), {}},
               {"j", ElementType::id(dims[1]), {}}};
  const Expr i = make_param(1, fn.params[1].type), j = make_param(2, fn.params[2].type);
  fn.body = make_tuple(turned ? std::vector<Expr>{j, i} : std::vector<Expr>{i, j});
  const ElementType element = fn.body.type;
  const FnId f = builder_.add_function(std::move(fn));
  const ValueId rows = values_.index(dims[0], mark, "index"), cols = values_.index(dims[1], mark, "index");
  const DimId entries = entries_dim_of(matrix, mark);
  return builder_.emit({.code = OpCode::entries, .operands = {matrix, rows, cols}, .fns = {f}, .at_rows = 1}, mark,
                       "places", {element, {entries}});
}

// Of a leaf at the nonzeros of matrix `from`: its values at those of `matrix`.
ValueId Patterns::aligned(ValueId matrix, ValueId leaf, const std::string& from, Mark mark) {
  const ValueId source = formulas_.find_matrix(from);
  std::vector<ValueId> operands{matrix, source};
  ElementType element = module_.type(source).element;
  if (element.is(Scalar::null)) element = ElementType::of(Scalar::f64);
  if (leaf != source) {
    operands.push_back(formulas_.side_of(leaf, source, mark).value);
    element = module_.type(operands[2]).element;
  }
  const std::string hint = builder_.base_name(operands.back());
  return builder_.emit({.code = OpCode::align, .operands = std::move(operands)}, mark, hint,
                       {element, {entries_dim_of(matrix, mark)}});
}

ValueId Patterns::met(ValueId matrix, const Formulas::Product& product, Mark mark) {
  const ValueId at = places(matrix, false, mark);
  const ElementType element = module_.type(product.left_values).element;
  const bool turned = product.right_values == no_value;
  std::vector<ValueId> operands{at, product.left_places, product.left_values};
  if (!turned) operands.insert(operands.end(), {product.right_places, product.right_values});
  return builder_.emit({.code = OpCode::meet, .operands = std::move(operands)}, mark, turned ? "turned" : "product",
                       {element, {entries_dim_of(matrix, mark)}});
}

Term Patterns::settled(Term term, Mark mark) {
  term = formulas_.by_own_names(std::move(term), mark);
  if (!formulas_.is_mixed(term, mark)) return term;
  for (const ValueId leaf : term.leaves) {
    if (leaf >= 0 && builder_.batches_of(leaf) != no_value) formulas_.refuse_batches(leaf, mark);
  }
  formulas_.require_absent(term, mark);
  const std::string pattern = pattern_of(term, mark);
  const ValueId matrix = matrix_called(pattern, term.dims, mark);
  for (ValueId& leaf : term.leaves) {
    const std::string name = formulas_.pattern_name(leaf, mark);
    if (name.empty()) continue;
    const ValueId source = formulas_.find_matrix(name);
    const bool fits =
        module_.type(matrix).dims == term.dims && (source == no_value || module_.type(source).dims == term.dims);
    if (!fits) {
      source_.fail(mark, fmt::format("'{}' lies over other rows and columns than the expression", name),
                   "entries of two matrices meet where both are over the same dimensions in the same order",
                   "declare the matrices alike");
    }
    const Formulas::SidedLeaf sided = formulas_.side_of(leaf, source, mark);
    if (sided.product < 0 && name == pattern) continue;
    const ValueId value = sided.product < 0 ? aligned(matrix, leaf, name, mark)
                                            : met(matrix, Formulas::Product(formulas_.product(sided)), mark);
    leaf = formulas_.stored_term(value).leaves[0];
  }
  return term;
}

}  // namespace kasen::lang
