#include "libcore/lang/terms/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "libcore/ir/layout.h"
#include "libcore/lang/terms/id_places.h"

namespace kasen::lang {

Term Values::term(ValueId id, bool named) const {
  Term term = leaf_term(id, module_.type(id).element, module_.type(id).dims);
  term.named = named;
  return term;
}

ValueId Values::constant(const Term& term, const std::string& hint, Mark mark) {
  return builder_.emit({.code = term.dims.empty() ? OpCode::literal : OpCode::fill, .literal = constant_words(term)},
                       mark, hint, {term.type(), term.dims});
}

ValueId Values::index(DimId dim, Mark mark, const std::string& hint) {
  return builder_.emit({.code = OpCode::index, .dim = dim}, mark, hint, {ElementType::id(dim), {dim}});
}

ValueId Values::size(DimId dim, Mark mark, const std::string& hint) {
  if (const Builder::Picked* const known = builder_.picked(dim)) return known->size;
  return builder_.emit({.code = OpCode::size, .dim = dim}, mark, hint, {ElementType::of(Scalar::i64)});
}

ValueId Values::reduce(FnId fn, ValueId array, const std::vector<DimId>& over, Mark mark, const std::string& hint) {
  Type type = module_.type(array);
  type.element = module_.fn(fn).result();
  std::erase_if(type.dims, [&](DimId d) { return over.empty() || contains(over, d); });
  return builder_.emit({.code = OpCode::reduce, .operands = {array}, .fns = {fn}, .over = over}, mark, hint, type);
}

// A map has the shape of its operands. A dimension that none of them has (of `fill`, or of a declared type) is added by
// its index.
void Values::cover(Term& term, Mark mark) {
  for (const DimId d : term.dims) {
    const bool covered = std::any_of(term.leaves.begin(), term.leaves.end(),
                                     [&](ValueId leaf) { return contains(module_.type(leaf).dims, d); });
    if (!covered) term.leaves.push_back(index(d, mark, "t"));
  }
}

// `leaves`: those of the fn's parameters.
void Values::add_instance(const Statement& fn, const std::vector<ValueId>& leaves, const Finished& made, FnId id) {
  Functions::Instance instance{id, {}};
  for (const ValueId l : leaves) {
    const auto it = std::find(made.operands.begin(), made.operands.end(), l);
    instance.operand_of.push_back(it == made.operands.end() ? -1 : static_cast<int>(it - made.operands.begin()));
  }
  functions_.add_instance(fn, std::move(instance));
}

ValueId Values::materialise(Term term, const std::string& hint, Mark mark, bool copy) {
  if (!copy || !formulas_.is_sparse(term)) formulas_.refuse(term, mark);
  return located(source_, mark, [&] {
    if (term.leaves.empty()) {
      if (term.expr.op == ScalarOp::loop_var) source_.fail(mark, "a coordinate outside its loop");
      return constant(term, hint, mark);
    }
    if (std::any_of(term.leaves.begin(), term.leaves.end(), [](ValueId v) { return v < 0; })) {
      source_.fail(mark, "an element of index notation where an array or a single value is meant",
                   "inside of [i in N: ...] and sum(i in N: ...) there are elements alone",
                   "compute it before, and give it a name");
    }
    const ValueId first = term.leaves[0];
    const bool leaf = term.bare() && term.dims == module_.type(first).dims && term.leaves.size() == 1;
    if (leaf && module_.type(first).sparse && copy) {
      formulas_.fail(term, mark, "a sparse matrix is not copied", "it is an input, and stays one",
                     "use it by its own name");
    }
    if (leaf && (!copy || Layout(module_, first).is_shared())) return first;
    cover(term, mark);
    Finished made = finish(module_, term, hint.empty() ? "t" : hint, builder_.base_names());
    if (made.operands.empty()) return constant(term, hint, mark);
    const FnId fn = builder_.add_function(std::move(made.fn));
    if (term.origin != nullptr) add_instance(*term.origin, term.origin_leaves, made, fn);
    return builder_.emit(
        {.code = term.dims.empty() ? OpCode::apply : OpCode::map, .operands = std::move(made.operands), .fns = {fn}},
        mark, hint, {module_.fn(fn).result(), term.dims});
  });
}

// A single value for every scalar of an element: `list c[k] : [f64; 3] = 0`.
Term Values::fill_element(const Term& term, const ElementType& element) {
  std::vector<Term> parts;
  for (const Component& c : element.components) {
    Term part = adapt(term, c.scalar);
    part.literal = false;
    if (c.count > 0) part = loop_term(ScalarOp::build, builder_.new_loop(), c.count, std::move(part));
    parts.push_back(std::move(part));
  }
  return element.tuple ? tuple_term(module_, std::move(parts)) : std::move(parts[0]);
}

Term Values::conform(Term term, const Type& type, Mark mark, const std::string& what) {
  return located(source_, mark, [&] {
    if (term.literal) {
      term = fill_element(term, type.element);
      term.literal = false;
    }
    if (term.type() != type.element) {
      const std::string wanted = show(module_, type.element);
      fail(ExitStatus::bad_input, fmt::format("{} is {}, not {}", what, wanted, show(module_, term.type())),
           "nothing is converted silently", conversion_to(module_, type.element, term.type()));
    }
    if (term.dims == type.dims) return std::move(term);
    const bool subset =
        std::all_of(term.dims.begin(), term.dims.end(), [&](DimId d) { return contains(type.dims, d); });
    if (!subset || term.dims.size() >= type.dims.size()) {
      fail(ExitStatus::bad_input, fmt::format("{} is over {}, not over {}", what, show_dims(module_, type.dims),
                                              show_dims(module_, term.dims)));
    }
    term.named = false;
    term.origin = nullptr;
    term.dims = type.dims;
    return std::move(term);
  });
}

void Values::require_array(const Term& term, Mark mark, const std::string& what) const {
  if (!term.dims.empty()) return;
  if (term.type().is_array()) {
    source_.fail(mark,
                 fmt::format("{} of {}, one value of {} coordinates", what, show(module_, term.type()),
                             term.type().components[0].count),
                 "it takes an array, which is over dimensions",
                 "make it one over a dimension: i64(index(K)) has 0, 1, ...");
  }
  source_.fail(mark, fmt::format("{} of a single value", what), "it takes an array with at least one dimension");
}

}  // namespace kasen::lang
