#include "libcore/lang/calls/reducer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "libcore/laws/laws.h"
#include "libcore/scalar/element_range.h"

namespace kasen::lang {
namespace {

std::vector<Expr> parts_of(const Expr& e) {
  if (!e.type.tuple) return {e};
  std::vector<Expr> parts;
  for (size_t i = 0; i < e.type.components.size(); ++i) parts.push_back(make_component(e, static_cast<int>(i)));
  return parts;
}

Expr truth(bool value) { return make_literal(Scalar::boolean, Word::integer(value ? 1 : 0)); }

// (flag, the components of the value)
Expr masked(Expr flag, const Expr& value) {
  std::vector<Expr> parts = parts_of(value);
  parts.insert(parts.begin(), std::move(flag));
  return make_tuple(std::move(parts));
}

ElementType masked(const ElementType& type) {
  ElementType made = type;
  made.tuple = true;
  made.components.insert(made.components.begin(), Component{Scalar::boolean, no_dim, 0});
  return made;
}

// The value of a masked element.
Expr unmasked(const Expr& e, const ElementType& type) {
  if (!type.tuple) return make_component(e, 1);
  std::vector<Expr> parts = parts_of(e);
  parts.erase(parts.begin());
  return make_tuple(std::move(parts));
}

// The result for two absent values: any operation with an identity, only for the law. `keep`: it gives one of them, so
// that it keeps their range.
Expr nothing(const Expr& a, const Expr& b, bool keep) {
  if (a.type.is_array()) {
    const auto at = [](const Expr& e) { return make_element(e, make_loop_var(0)); };
    return make_loop(ScalarOp::build, 0, a.type.components[0].count, nothing(at(a), at(b), keep));
  }
  if (a.type.is(Scalar::boolean)) return make_op(ScalarOp::logical_or, {a, b});
  return make_op(is_numeric(a.type.scalar()) && !keep ? ScalarOp::add : ScalarOp::max, {a, b});
}

// Nothing is known of the flag.
ElementRange masked(ElementRange range) {
  if (!range.empty()) range.insert(range.begin(), Interval{});
  return range;
}

ScalarFunction mask_reducer(const ScalarFunction& fn) {
  const ElementType& type = fn.result();
  const ElementType whole = masked(type);
  const Expr a = make_param(0, whole), b = make_param(1, whole);
  const Expr has_a = make_component(a, 0), has_b = make_component(b, 0);
  const std::vector<Expr> values{unmasked(a, type), unmasked(b, type)};
  const std::vector<Expr> joined = parts_of(substitute(fn.body, values));
  std::vector<Expr> parts{make_op(ScalarOp::logical_or, {has_a, has_b})};
  for (size_t i = 0; i < joined.size(); ++i) {
    const Expr x = make_component(a, static_cast<int>(i) + 1), y = make_component(b, static_cast<int>(i) + 1);
    Expr one = make_op(ScalarOp::select, {has_b, y, nothing(x, y, declares_range(fn))});
    one = make_op(ScalarOp::select, {has_a, x, std::move(one)});
    const Expr both = make_op(ScalarOp::logical_and, {has_a, has_b});
    parts.push_back(make_op(ScalarOp::select, {both, joined[i], std::move(one)}));
  }
  const ElementRange range = masked(fn.params[0].range);
  return {
      fn.name, {{fn.params[0].name, whole, range}, {fn.params[1].name, whole, range}}, make_tuple(std::move(parts))};
}

}  // namespace

void Reducers::declare_identity(const Statement& s) {
  if (s.name.text != "identity") return;
  if (s.arguments.size() != 2 || s.arguments[0].kind != NodeKind::name) {
    source_.fail(s.mark, "identity of a function and a value", {}, "write identity(f, 0)");
  }
  const Node& f = s.arguments[0];
  const Statement* fn = functions_.fn(f);
  if (fn == nullptr) {
    source_.fail(f.mark, "assumptions are about functions of the program", "built-in functions are known",
                 "declare it: fn f(x, y) = ...");
  }
  if (!identities_.emplace(fn, &s.arguments[1]).second) {
    source_.fail(s.mark, fmt::format("two identities of '{}'", f.text));
  }
}

// The reducer with the declared range that the program was found to keep. `functions`: their number before it.
FnId Reducers::in_known_range(FnId reducer, const Node& fn, size_t functions) {
  const auto known = std::find_if(ranges_.begin(), ranges_.end(),
                                  [&](const ReducerRange& r) { return r.reducer == module_.fn(reducer); });
  if (known == ranges_.end() || known->range.empty()) return reducer;
  ScalarFunction declared = module_.fn(reducer);
  for (ScalarParam& param : declared.params) param.range = known->range;
  const FnId made = builder_.replace_function(functions, std::move(declared));
  functions_.replace_instance(fn, made);
  return made;
}

// By value: the module, which may hold the type, grows here.
// NOLINTNEXTLINE(performance-unnecessary-value-param)
FnId Reducers::plain(const Node& fn, ElementType type, Mark mark) {
  const size_t functions = module_.functions.size();
  const FnId id = calls_.instantiate(fn, {type, type}, mark, "reduce");
  const ElementType& result = module_.fn(id).result();
  if (result == type) return in_known_range(id, fn, functions);
  source_.fail(fn.mark, fmt::format("this reducer makes {} of {}", show(module_, result), show(module_, type)),
               "a reducer takes two elements of one type and gives another of the same type");
}

// A function that cannot reduce at all stays unchanged, and the verifier refuses it.
Reducer Reducers::with_mask(const Node& fn, const ElementType& type, Mark mark) {
  const size_t functions = module_.functions.size();
  Reducer made{plain(fn, type, mark), false, {}};
  const ScalarFunction unmasked = module_.fn(made.fn);
  const auto identity = reducer_identity(unmasked);
  const Statement* user = functions_.fn(fn);
  if (user != nullptr && identities_.contains(user)) made.empty = stated_identity(*user, type, identity);
  if (identity || TrialLawChecker().reducer(module_, made.fn).verdict == Verdict::refuted) return made;
  made.masked = true;
  made.fn = builder_.replace_function(functions, mask_reducer(unmasked));
  without_masks_.emplace(made.fn, without_ranges(unmasked));
  functions_.replace_instance(fn, made.fn);
  return made;
}

// `assume identity(f, e)`: the value where nothing was reduced.
std::vector<Word> Reducers::stated_identity(const Statement& fn, const ElementType& type,
                                            const std::optional<std::vector<Word>>& found) {
  const Node& node = *identities_.at(&fn);
  Term term = evaluator_.element(node);
  if (!term.known()) {
    source_.fail(node.mark, "an identity must be known to plan", "it is made of literals and consts");
  }
  const std::vector<Word> words = constant_words(values_.conform(std::move(term), {type}, node.mark, "the identity"));
  const auto same = [](const Word& a, const Word& b) { return a.i == b.i; };
  if (found && !std::equal(words.begin(), words.end(), found->begin(), found->end(), same)) {
    source_.fail(node.mark, fmt::format("this is not the identity of '{}'", fn.name.text),
                 "combined with another element it changes that element", "leave the assumption out");
  }
  return words;
}

Term Reducers::mask(const Term& array) {
  Term made = array;
  made.expr = masked(truth(true), array.expr);
  made.literal = made.named = false;
  made.origin = nullptr;
  return made;
}

FnId Reducers::mask(FnId multiplier) {
  ScalarFunction fn = module_.fn(multiplier);
  fn.body = masked(truth(true), fn.body);
  return builder_.add_function(std::move(fn));
}

// The reduced value. Where nothing was reduced: the stated identity, else NaN in floating point, 0, false and no index.
Term Reducers::unmask(ValueId value, const ElementType& type, const Reducer& reducer) {
  Term term = values_.term(value);
  const std::vector<Expr> parts = parts_of(term.expr);
  std::vector<Expr> values;
  size_t plane = 0;
  for (size_t i = 1; i < parts.size(); ++i) {
    const Component& c = type.components[i - 1];
    const auto first = static_cast<std::ptrdiff_t>(plane);
    plane += static_cast<size_t>(c.planes());
    std::vector<Word> empty(static_cast<size_t>(c.planes()), Word::real(std::numeric_limits<double>::quiet_NaN()));
    if (!reducer.empty.empty()) empty.assign(reducer.empty.begin() + first, reducer.empty.begin() + first + c.planes());
    const bool as_it_is = c.scalar == Scalar::id || (reducer.empty.empty() && !is_float(c.scalar));
    values.push_back(as_it_is ? parts[i] : make_op(ScalarOp::select, {parts[0], parts[i], constant_of(c, empty)}));
  }
  term.expr = type.tuple ? make_tuple(std::move(values)) : std::move(values[0]);
  term.size += static_cast<std::int64_t>(parts.size()) * 4;
  term.depth += 3;
  return term;
}

Expr Reducers::constant_of(const Component& c, const std::vector<Word>& words) {
  std::vector<Term> coordinates;
  for (const Word& word : words) {
    coordinates.push_back(literal_term(c.scalar, word));
    coordinates.back().literal = false;
  }
  return c.count == 0 ? coordinates[0].expr : array_term(module_, std::move(coordinates), builder_.new_loop()).expr;
}

}  // namespace kasen::lang
