#include "libcore/lang/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "libcore/lang/domains.h"
#include "libcore/lang/terms/id_places.h"
#include "libcore/lang/terms/operands.h"
#include "libcore/syntax/habits.h"

namespace kasen::lang {
namespace {

// A double has each whole number up to here, so that it is the one that was written.
constexpr double largest_exact = 9007199254740992.0;
bool is_exact_integer(double value) { return value <= largest_exact && std::trunc(value) == value; }

// An operator whose result is a mask.
bool is_condition(const Node& node) {
  constexpr std::array ops{ScalarOp::lt, ScalarOp::le, ScalarOp::gt,          ScalarOp::ge,
                           ScalarOp::eq, ScalarOp::ne, ScalarOp::logical_and, ScalarOp::logical_or};
  return node.kind == NodeKind::operation && std::find(ops.begin(), ops.end(), node.op) != ops.end();
}

}  // namespace

Expressions::Expressions(const Part& part, Frames& frames, Calls& calls, AxisWords& axis_words, Lists& lists,
                         Elements& elements, Products& products, Indexed& indexed, Definitions& definitions)
    : Part(part),
      frames_(frames),
      calls_(calls),
      axis_words_(axis_words),
      lists_(lists),
      elements_(elements),
      products_(products),
      indexed_(indexed),
      definitions_(definitions) {
  evaluator_.set([this](const Node& node, const std::string& hint) { return lower(node, hint); });
}

Term Expressions::lower(const Node& node, const std::string& hint) {
  switch (node.kind) {
    case NodeKind::integer:
    case NodeKind::real:
    case NodeKind::boolean:
      return literal(node);
    case NodeKind::name:
      return name(node);
    case NodeKind::operation:
      return operation(node);
    case NodeKind::call:
      return call(node, hint);
    case NodeKind::index:
      return index(node, hint);
    case NodeKind::component: {
      Term tuple = evaluator_.element(node.args[0]);
      return located(source_, node.mark, [&] { return component_term(std::move(tuple), node.component); });
    }
    case NodeKind::tuple: {
      std::vector<Term> parts = evaluator_.elements(node.args);
      return located(source_, node.mark, [&] { return tuple_term(module_, std::move(parts)); });
    }
    case NodeKind::small_array: {
      std::vector<Term> parts = evaluator_.elements(node.args);
      return located(source_, node.mark, [&] { return array_term(module_, std::move(parts), builder_.new_loop()); });
    }
    case NodeKind::loop:
      return loop(node, hint);
    case NodeKind::product:
      if (frames_.empty()) return products_.product(node, hint);
      source_.fail(node.mark, "'@' inside a function", "functions work on elements, products on arrays");
    case NodeKind::transpose:
      return products_.transposed(node, hint);
    default:
      source_.fail(node.mark, "a function where a value is meant",
                   "functions are arguments of map, zipwith, reduce, mxv and mxvt");
  }
}

Term Expressions::literal(const Node& node) const {
  if (node.kind == NodeKind::boolean) {
    Term term = literal_term(Scalar::boolean, Word::integer(node.text == "true" ? 1 : 0));
    term.literal = false;
    return term;
  }
  const char* end = node.text.data() + node.text.size();
  Term term;
  if (node.kind == NodeKind::integer) {
    std::int64_t value = 0;
    if (std::from_chars(node.text.data(), end, value).ec != std::errc{}) {
      source_.fail(node.mark, fmt::format("{} does not fit into i64", node.text.substr(0, 60)));
    }
    term = literal_term(Scalar::i64, Word::integer(value));
  } else {
    double value =
        node.text == "inf" ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    const bool digits = node.text != "inf" && node.text != "nan";
    if (digits && std::from_chars(node.text.data(), end, value).ec != std::errc{}) {
      source_.fail(node.mark, fmt::format("{} is out of range", node.text.substr(0, 60)), "f64 ends at about 1.8e308",
                   "write inf for infinity");
    }
    term = literal_term(Scalar::f64, Word::real(value));
    term.whole = node.text.find_first_of("eE") != std::string::npos && is_exact_integer(value);
  }
  if (node.suffix.empty()) return term;
  term = located(source_, node.mark, [&] { return adapt(std::move(term), scalar_named(node.suffix)); });
  term.literal = false;
  return term;
}

Term Expressions::name(const Node& node) {
  if (const Term* inner = frames_.find(node.text)) return evaluator_.charge(*inner);
  if (std::optional<Term> element = indexed_.variable(node.text, node.mark)) return std::move(*element);
  const Frame* fn = frames_.fn();
  if (fn == nullptr) return name_of_program(node);
  const Binding* b = functions_.in_used_file() ? nullptr : scopes_.find_for_fn(node.text);
  if (b != nullptr && b->is(Binding::Kind::constant)) return b->term;
  if (b != nullptr && b->is(Binding::Kind::dimension)) return name_of_program(node);
  if (b != nullptr) {
    source_.fail(node.mark, fmt::format("'{}' is not visible in a function", node.text),
                 "a fn sees its parameters, its own names and consts", "pass it as an argument");
  }
  Names known = scopes_.visible();
  for (const auto& [text, term] : fn->names) known.push_back(text);
  const Habit* habit = find_habit(node.text, true);
  source_.fail(node.mark, fmt::format("unknown name '{}'", node.text), "it is no parameter and no const",
               habit != nullptr ? habit_remedy(*habit) : did_you_mean(node.text, known));
}

Term Expressions::name_of_program(const Node& node) {
  const Binding* b = scopes_.find(node.text);
  if (b == nullptr) {
    if (scopes_.is_hidden(node.text) && !functions_.in_used_file()) {
      source_.fail(node.mark, fmt::format("'{}' is not visible in a function", node.text),
                   "a def sees its parameters, its own names, consts and dimensions", "pass it as an argument");
    }
    const bool is_fn = functions_.contains(node.text);
    const Mark ended = scopes_.ended_with(node.text);
    if (ended.line > 0) {
      source_.fail(node.mark, fmt::format("unknown name '{}'", node.text),
                   fmt::format("it ended with the block that begins in line {}", source_.location(ended).line),
                   fmt::format("define it before the block, {} = ..., which then changes it", node.text));
    }
    std::string remedy =
        is_fn ? fmt::format("call it: {}(...)", node.text) : did_you_mean(node.text, scopes_.visible());
    const Habit* habit = find_habit(node.text, true);
    if (habit != nullptr) remedy = habit_remedy(*habit);
    source_.fail(node.mark, fmt::format("unknown name '{}'", node.text),
                 is_fn ? "there is a function of that name" : "no statement before this place defines it", remedy);
  }
  switch (b->kind) {
    case Binding::Kind::poisoned:
      throw Poisoned{};
    case Binding::Kind::constant:
    case Binding::Kind::formula:
      return evaluator_.charge(b->term);
    case Binding::Kind::dimension: {
      if (b->dim == no_dim) {
        source_.fail(node.mark, fmt::format("'{}' stands for dimensions", node.text), {},
                     fmt::format("write size({}) for the number of their indices", node.text));
      }
      if (b->in_blocks) {
        source_.fail(node.mark, fmt::format("'{}' is a dimension in blocks", node.text),
                     "as a number it could be the rows of a block, or all",
                     fmt::format("write size(B) for those of block B, or n = size({}) before the loop", node.text));
      }
      const std::int64_t size = module_.dim(b->dim).size;
      if (size >= 0) return literal_term(Scalar::i64, Word::integer(size));
      source_.fail(node.mark, fmt::format("'{}' is a dimension", node.text), "only run knows its size",
                   fmt::format("write size({})", node.text));
    }
    default:
      return formulas_.is_stored(b->id) ? formulas_.stored_term(b->id) : values_.term(b->id, true);
  }
}

// Types that do not meet, by the names of the program.
void Expressions::refuse_types(const Node& node, const std::vector<Term>& args) const {
  const ScalarOpRow& r = row(node.op);
  if (r.result == ResultRule::logic || r.result == ResultRule::bits) return;
  const std::string_view sign = r.symbol.empty() ? r.name : r.symbol;
  const bool choice = node.op == ScalarOp::select, quotient = r.result == ResultRule::divide;
  const bool numbers = quotient || r.result == ResultRule::same || r.result == ResultRule::real;
  std::vector<Operand> operands;
  for (size_t i = choice ? 1 : 0; i < args.size(); ++i) {
    if (quotient) operands.clear();  // all numbers meet there
    operands.push_back({&node.args[i], &args[i]});
    if (quotient) refuse_mixed(source_, builder_, node.mark, sign, operands, numbers);
  }
  refuse_other_ids(source_, module_, node.mark, choice ? "if" : sign, operands);
  refuse_mixed(source_, builder_, node.mark, choice ? "if" : sign, operands, numbers);
  const auto whole = [](const Term& t) { return t.type().is_scalar() && is_integer(t.type().scalar()); };
  if (node.op != ScalarOp::pow || !whole(args[0]) || !whole(args[1]) || (args[0].literal && args[1].literal)) return;
  source_.fail(node.mark, fmt::format("'^' does not take {}", show(module_, args[0].type())),
               "it takes floating-point numbers, and of whole ones the powers 2 and 3",
               "write f64(k) ^ 5 for the power, or bit_xor(k, 5) for the bits that differ");
}

// x ^ 2 and x ^ 3 are products: exact where pow is not, and of any numeric type.
Term Expressions::operation(const Node& node) {
  std::vector<Term> args = evaluator_.operands(node.args);
  const Term& last = args.back();
  const bool whole = node.op == ScalarOp::pow && last.literal && last.type().is(Scalar::i64);
  const std::int64_t power = whole ? last.expr.literal.i : 0;
  if (power != 2 && power != 3) refuse_types(node, args);
  return located(source_, node.mark, [&] {
    if (power != 2 && power != 3) return combine(module_, node.op, std::move(args), Pairs::open);
    const Term base = args[0];
    Term result = base;
    for (std::int64_t i = 1; i < power; ++i) {
      std::vector<Term> factors;
      factors.push_back(std::move(result));
      factors.push_back(evaluator_.charge(base));
      result = combine(module_, ScalarOp::mul, std::move(factors), Pairs::open);
    }
    return result;
  });
}

// An array of a list, or a coordinate of each point.
Term Expressions::index(const Node& node, const std::string& hint) {
  Term array = evaluator_.eval(node.args[0]);
  const bool leaf = array.bare() && array.leaves[0] >= 0;
  if (leaf && module_.type(array.leaves[0]).list > 0) return lists_.get(array.leaves[0], node, hint);
  if (std::optional<Term> element = indexed_.access(array, node)) return std::move(*element);
  array = evaluator_.require_element(std::move(array), node.args[0]);
  const bool all = array.dims.size() + 1 == node.args.size() && !array.type().is_array();
  if (all && frames_.empty() && !is_condition(node.args[1])) return elements_.get(std::move(array), node, hint);
  if (node.args.size() > 2) refuse_indices(node);
  if (!array.type().is_array()) refuse_element(array, node);
  Term place = evaluator_.element(node.args[1]);
  return located(source_, node.mark, [&] { return element_term(module_, std::move(array), std::move(place)); });
}

void Expressions::refuse_indices(const Node& node) const {
  source_.fail(node.args[2].mark, "an element by several indices",
               "outside of index notation, [ ] takes one, of a list or a small array",
               "write at(A, 0, over F) for one index of a local dimension, or [i in N, j in M: A[i, j] + 1] for all");
}

// `X[m]` and `X[k]` with an array in the brackets: those elements, or rows, of X. Empty: it is no array.
std::string Expressions::remedy_of_places(const Term& array, const Node& node) {
  const Node& inside = node.args[1];
  const Term places = evaluator_.element(inside);
  const std::string base = node.args[0].kind == NodeKind::name ? node.args[0].text : "x";
  const std::string name = inside.kind == NodeKind::name ? inside.text : is_condition(inside) ? "m" : "k";
  if (places.dims.empty()) return "";
  const std::string whole = module_.dim(places.dims[0]).name;
  if (places.type().is(Scalar::boolean)) {
    const std::string mask = name == "m" ? " and m = ..." : "";
    if (places.dims.size() > 1) return fmt::format("write if m then {} else 0 for a value at each element", base);
    return fmt::format("write pick({}, {}, K), with dim K some {}{}", base, name, whole, mask);
  }
  return fmt::format("write take({}, {}, over {})", base, name, module_.dim(array.dims[0]).name);
}

// `x[3]` of a vector: [ ] takes an index of a list or a coordinate only.
void Expressions::refuse_element(const Term& array, const Node& node) {
  const Type type{array.type(), array.dims};
  const std::string what = fmt::format("no element access in {}", show(module_, type)),
                    why = "[ ] takes an array of a list, or a coordinate of small arrays such as [f64; 3]";
  const std::string places = array.dims.empty() ? "" : remedy_of_places(array, node);
  if (formulas_.is_entries(array)) {
    const std::string rows = module_.dim(array.dims[0]).name, columns = module_.dim(array.dims.back()).name;
    formulas_.fail(
        array, node.mark, what, why,
        fmt::format(
            "write e = if i64(index({0})) == 3 then 1.0 else 0.0, and G' @ e for row 3 as a vector over [{1}]; batches "
            "are one input, X : sparse f64[T, {0}, {1}] with dim T local, and at(X, t, over T) is one of them",
            rows, columns));
  }
  const bool local = array.dims.size() == 1 && module_.dim(array.dims[0]).local;
  std::string remedy = places;
  if (places.empty() && array.dims.size() == 1) {
    const std::string& dim = module_.dim(array.dims[0]).name;
    remedy = local ? "write at(x, 3)" : fmt::format("write sum(if i64(index({})) == 3 then x else 0)", dim);
    if (node.args[1].kind == NodeKind::operation && node.args[1].args.size() == 2) {
      remedy = fmt::format("write [i in I: x[i] - x[i - 1]], with dim I = {}[1:], for all neighbours", dim);
    }
  } else if (places.empty() && !array.dims.empty()) {
    remedy = fmt::format("write at(A, 3, over {}), if that dimension is local", module_.dim(array.dims.back()).name);
  }
  source_.fail(node.mark, what, why, remedy);
}

Term Expressions::loop(const Node& node, const std::string& hint) {
  if (indexed_.is_notation(node)) return indexed_.lower(node, hint);
  if (!node.suffix.empty()) {
    source_.fail(
        node.mark, fmt::format("{} over coordinates", node.suffix),
        fmt::format("{} runs over the indices of a dimension", node.suffix),
        node.suffix == "mean" ? "write sum(j in d: p[j]) / d" : "write sum(j in d: if p[j] then 1 else 0) > 0");
  }
  const std::int64_t count = evaluator_.count(node.args[0], 1, "the number of coordinates");
  const int number = builder_.new_loop();
  Frame frame;
  frame.names[node.text].expr = make_loop_var(number);
  const Until inside = frames_.inside(frame);
  Term body = evaluator_.element(node.args[1]);
  return located(source_, node.mark, [&] { return loop_term(node.op, number, count, std::move(body)); });
}

Term Expressions::call(const Node& node, const std::string& hint) {
  if (axis_words_.stand_in(node)) return axis_words_.lower(node, hint);
  const Statement* const def = functions_.def(node.text);
  const bool used = def != nullptr && source_.section(def->mark) > 0;
  if (def != nullptr && !(used && products_.takes_entries(node))) {
    refuse_domain(source_, scopes_, module_, *def, node);
    return definitions_.one(*def, node, hint);
  }
  if (const Statement* fn = functions_.fn(node.text)) return calls_.fn(*fn, evaluator_.elements(node.args), node.mark);
  const bool scalar = node.args.size() == 2 && find_scalar_op(node.text, 2) != nullptr;
  const ArrayCall* call = functions_.array_call(node.text);
  if (call == nullptr || (scalar && over_argument(node, 1) == nullptr)) return calls_.scalar(node);
  if (frames_.empty()) return call->lower(node, hint);
  source_.fail(node.mark, fmt::format("'{}' inside a function", node.text),
               "functions work on elements; whole arrays are not visible there",
               "compute it before and pass it as an argument (coordinates: sum(j in d: p[j]))");
}

}  // namespace kasen::lang
