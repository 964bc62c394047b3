// Builds terms; finish.cpp gives them their canonical form.
#include "libcore/lang/terms/term.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace kasen::lang {
namespace {

bool contains_all(const std::vector<DimId>& whole, const std::vector<DimId>& part) {
  return std::all_of(part.begin(), part.end(), [&](DimId d) { return contains(whole, d); });
}

[[noreturn]] void refuse_pair(const Module& module, const std::vector<DimId>& dims, const std::vector<DimId>& other) {
  const std::string what =
      fmt::format("arrays over {} and {} do not match", show_dims(module, dims), show_dims(module, other));
  if (dims.size() == other.size() && contains_all(dims, other)) {
    fail(ExitStatus::bad_input, what, "their dimensions stand in different orders",
         dims.size() == 2 ? "write A' for one of them" : "");
  }
  fail(ExitStatus::bad_input, what, "element-wise work pairs elements of the same dimensions, by name",
       "use a product with a matrix to go from one dimension to another, or outer(f, a, b) for all pairs, or "
       "(a + b) as [N, M]");
}

// The dimensions of the result: those of the closed operand with the most of them, if it has all. Else it is open, over
// all of them as they are declared.
void merge_dims(const Module& module, const std::vector<Term>& args, Pairs pairs, Term& out) {
  const Term* widest = nullptr;
  std::vector<DimId> all;
  for (const Term& arg : args) {
    if (!arg.open && (widest == nullptr || arg.dims.size() > widest->dims.size())) widest = &arg;
    all.insert(all.end(), arg.dims.begin(), arg.dims.end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (widest != nullptr && contains_all(widest->dims, all)) {
    out.dims = widest->dims;
    for (const Term& arg : args) {
      if (!arg.open && arg.dims.size() == out.dims.size() && arg.dims != out.dims)
        refuse_pair(module, out.dims, arg.dims);
    }
    return;
  }
  if (pairs == Pairs::refused) {
    const std::vector<DimId> first = widest == nullptr ? all : widest->dims;
    for (const Term& arg : args) {
      if (!contains_all(first, arg.dims)) refuse_pair(module, first, arg.dims);
    }
  }
  out.open = true;
  out.dims = std::move(all);
}

// What `make` makes of the arguments' trees, over their merged leaves.
template <class Make>
Term merged(const Module& module, std::vector<Term> args, Pairs pairs, Make make) {
  std::vector<Expr> trees;
  Term out;
  merge_dims(module, args, pairs, out);
  for (Term& arg : args) {
    std::vector<int> to;
    bool moved = false;
    for (const ValueId leaf : arg.leaves) {
      auto it = std::find(out.leaves.begin(), out.leaves.end(), leaf);
      if (it == out.leaves.end()) it = out.leaves.insert(out.leaves.end(), leaf);
      to.push_back(static_cast<int>(it - out.leaves.begin()));
      moved = moved || to.back() != static_cast<int>(to.size()) - 1;
    }
    if (moved) renumber_params(arg.expr, to);
    trees.push_back(std::move(arg.expr));
    out.size += arg.size;
    out.depth = std::max(out.depth, arg.depth + 1);
    out.nesting = std::max(out.nesting, arg.nesting);
    out.iterations = std::max(out.iterations, arg.iterations);
  }
  if (out.size > max_term_size || out.depth > max_term_depth) {
    fail(ExitStatus::bad_input, "this expression is too large",
         "functions and their locals are put into each other at every use", "give intermediate arrays a name");
  }
  out.expr = make(std::move(trees));
  return out;
}

// Terms of literals without a type are computed at once, so that `1 / 3` and `-1` are literals, too.
Term fold(Term term) {
  ScalarFunction fn{"literal", {}, std::move(term.expr)};
  Word value{};
  evaluate(fn, {}, std::span<Word>(&value, 1));
  return literal_term(fn.body.type.scalar(), value);
}

bool all_literal(const std::vector<Term>& args) {
  return std::all_of(args.begin(), args.end(), [](const Term& t) { return t.literal; });
}

// Literals take the type of the first operand that has one. Among literals alone, integers beside f64 become f64.
void settle_literals(ScalarOp op, std::vector<Term>& args) {
  const ResultRule rule = row(op).result;
  if (rule == ResultRule::logic) return;
  const size_t first = op == ScalarOp::select ? 1 : 0;
  Scalar target = Scalar::null;
  for (size_t i = first; i < args.size(); ++i) {
    if (!args[i].literal && args[i].type().is_scalar() && target == Scalar::null) target = args[i].type().scalar();
  }
  if (target == Scalar::null) {
    const bool real = rule == ResultRule::real || std::any_of(args.begin() + static_cast<long>(first), args.end(),
                                                              [](const Term& t) { return t.type().is(Scalar::f64); });
    if (!real) return;
    target = Scalar::f64;
  }
  if (rule == ResultRule::divide && is_integer(target)) return;  // `/` takes all numbers unchanged
  for (size_t i = first; i < args.size(); ++i) {
    if (is_numeric(target) && args[i].literal && is_numeric(args[i].type().scalar())) {
      args[i] = adapt(std::move(args[i]), target);
    }
  }
}

}  // namespace

void renumber_params(Expr& e, const std::vector<int>& to) {
  if (e.op == ScalarOp::param) e.index = to[static_cast<size_t>(e.index)];
  for (Expr& arg : e.args) renumber_params(arg, to);
}

Scalar scalar_named(const std::string& name) {
  for (const Scalar s : {Scalar::f64, Scalar::f32, Scalar::i64, Scalar::i32, Scalar::boolean, Scalar::id}) {
    if (scalar_name(s) == name) return s;
  }
  return Scalar::null;
}

std::string show_dims(const Module& module, const std::vector<DimId>& dims) {
  std::string text;
  for (const DimId d : dims) text += (text.empty() ? "" : ", ") + module.dim(d).name;
  return '[' + text + ']';
}

std::string show(const Module& module, const ElementType& type) {
  std::string text;
  for (const Component& c : type.components) {
    std::string name(scalar_name(c.scalar));
    if (c.scalar == Scalar::id && c.id_of != no_dim) name += show_dims(module, {c.id_of});
    if (c.count > 0) name = fmt::format("[{}; {}]", name, c.count);
    text += (text.empty() ? "" : ", ") + name;
  }
  return type.tuple ? '(' + text + ')' : text;
}

std::string show(const Module& module, const Type& type) {
  std::string text = show(module, type.element);
  if (!type.dims.empty()) text += show_dims(module, type.dims);
  if (type.sparse) text = "sparse " + text;
  if (type.list > 0) text = fmt::format("a list of {} {}", type.list, text);
  return text;
}

Term leaf_term(ValueId leaf, const ElementType& type, std::vector<DimId> dims) {
  Term term;
  term.expr = make_param(0, type);
  term.leaves = {leaf};
  term.dims = std::move(dims);
  return term;
}

Term literal_term(Scalar scalar, Word value) {
  Term term;
  term.expr = make_literal(scalar, value);
  term.literal = true;
  return term;
}

Term loop_var_term(int number) {
  Term term;
  term.expr = make_loop_var(number);
  return term;
}

Term adapt(Term term, Scalar to) {
  if (!term.literal || term.type().is(to)) return term;
  const Scalar from = term.type().scalar();
  if (term.whole && is_integer(to))
    return adapt(literal_term(Scalar::i64, convert(from, Scalar::i64, term.expr.literal)), to);
  if (!is_numeric(from) || !is_numeric(to) || (is_float(from) && is_integer(to))) {
    fail(ExitStatus::bad_input,
         fmt::format("{} where {} is meant", literal_text(from, term.expr.literal), scalar_name(to)),
         "nothing is converted silently",
         fmt::format("write the number as {}, or convert the other side", scalar_name(to)));
  }
  const std::int64_t whole = term.expr.literal.i;
  if (to == Scalar::i32 &&
      (whole > std::numeric_limits<std::int32_t>::max() || whole < std::numeric_limits<std::int32_t>::min())) {
    fail(ExitStatus::bad_input, fmt::format("{} does not fit into i32", whole));
  }
  return literal_term(to, convert(from, to, term.expr.literal));
}

void require_closed(const Module& module, const Term& term) {
  if (!term.open) return;
  std::vector<DimId> first;
  for (const ValueId leaf : term.leaves) {
    if (leaf < 0) continue;
    const std::vector<DimId>& dims = module.type(leaf).dims;
    if (!contains_all(first, dims) && !contains_all(dims, first)) refuse_pair(module, first, dims);
    if (dims.size() > first.size()) first = dims;
  }
  refuse_pair(module, first, term.dims);
}

Term combine(const Module& module, ScalarOp op, std::vector<Term> args, Pairs pairs) {
  settle_literals(op, args);
  const bool literal = all_literal(args);
  const bool whole = op == ScalarOp::neg && args[0].whole;
  Term out =
      merged(module, std::move(args), pairs, [&](std::vector<Expr> trees) { return make_op(op, std::move(trees)); });
  if (!literal) return out;
  out = fold(std::move(out));
  out.whole = whole;
  return out;
}

Term convert_term(const Module& module, Scalar to, Term arg) {
  const bool literal = arg.literal;
  Term out = merged(module, {std::move(arg)}, Pairs::open,
                    [&](std::vector<Expr> e) { return make_cast(to, std::move(e[0])); });
  if (!literal) return out;
  out = fold(std::move(out));
  out.literal = false;  // `f32(1)` has a type of its own
  return out;
}

Term tuple_term(const Module& module, std::vector<Term> args) {
  return merged(module, std::move(args), Pairs::refused, make_tuple);
}

Term component_term(Term tuple, int index) {
  tuple.expr = make_component(std::move(tuple.expr), index);
  ++tuple.size;
  ++tuple.depth;
  tuple.named = false;
  tuple.origin = nullptr;
  return tuple;
}

Term element_term(const Module& module, Term array, Term index) {
  return merged(module, {std::move(array), adapt(std::move(index), Scalar::i64)}, Pairs::refused,
                [](std::vector<Expr> e) { return make_element(std::move(e[0]), std::move(e[1])); });
}

Term loop_term(ScalarOp op, int number, std::int64_t count, Term body) {
  if (++body.nesting > max_loop_nesting || body.iterations > max_loop_iterations / count) {
    fail(ExitStatus::bad_input, "coordinate loops inside each other take too many iterations",
         fmt::format("at most {} levels and {} iterations are possible", max_loop_nesting, max_loop_iterations));
  }
  body.iterations *= count;
  body.expr = make_loop(op, number, count, std::move(body.expr));
  ++body.size;
  ++body.depth;
  body.literal = body.named = false;
  body.origin = nullptr;
  return body;
}

namespace {

// parts[begin, end) by coordinate. The range is halved at each step, so that long lists do not nest deeply.
Term choose(const Module& module, std::vector<Term>& parts, int number, size_t begin, size_t end) {
  if (end - begin == 1) return std::move(parts[begin]);
  const size_t middle = begin + (end - begin) / 2;
  std::vector<Term> test;
  test.push_back(loop_var_term(number));
  test.push_back(literal_term(Scalar::i64, Word::integer(static_cast<std::int64_t>(middle))));
  std::vector<Term> choice;
  choice.push_back(combine(module, ScalarOp::lt, std::move(test)));
  choice.push_back(choose(module, parts, number, begin, middle));
  choice.push_back(choose(module, parts, number, middle, end));
  return combine(module, ScalarOp::select, std::move(choice));
}

}  // namespace

// No operator lists coordinates: `[a, b]` is `[j in 2: if j < 1 then a else b]`.
Term array_term(const Module& module, std::vector<Term> parts, int number) {
  const auto count = static_cast<std::int64_t>(parts.size());
  settle_literals(ScalarOp::add, parts);
  // They are combined in pairs, whose shapes alone might not match.
  Term shape;
  merge_dims(module, parts, Pairs::refused, shape);
  for (Term& part : parts) part.dims = shape.dims;
  Term body = choose(module, parts, number, 0, parts.size());
  return loop_term(ScalarOp::build, number, count, std::move(body));
}

}  // namespace kasen::lang
