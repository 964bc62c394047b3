// Expressions and names; functions are in function.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "libcore/lang/lower.h"
#include "libcore/syntax/habits.h"

namespace kasen::lang {
namespace {

constexpr int max_eval_depth = 700;
constexpr std::int64_t max_work = 20'000'000;

class Depth {
 public:
  explicit Depth(int& depth) : depth_(depth) { ++depth_; }
  ~Depth() { --depth_; }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;

 private:
  int& depth_;
};

}  // namespace

bool Lowering::in_function() const {
  for (const Frame* f = frame_; f != nullptr; f = f->parent) {
    if (f->function) return true;
  }
  return false;
}

Term Lowering::charge(Term term) {
  work_ += term.size;
  if (work_ > max_work) fail(ExitStatus::limit, "the program is too large", "its functions expand without bound");
  return term;
}

Term Lowering::eval(const Node& node) {
  const std::string hint = std::exchange(hint_, {});
  const Depth guard(depth_);
  if (depth_ > max_eval_depth) source_.fail(node.mark, "functions are nested too deeply in each other");
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
      Term tuple = element(node.args[0]);
      return at(node.mark, [&] { return component_term(std::move(tuple), node.component); });
    }
    case NodeKind::tuple: {
      std::vector<Term> parts = elements(node.args);
      return at(node.mark, [&] { return tuple_term(module_, std::move(parts)); });
    }
    case NodeKind::small_array: {
      std::vector<Term> parts = elements(node.args);
      return at(node.mark, [&] { return array_term(module_, std::move(parts), loops_++); });
    }
    case NodeKind::loop:
      return loop(node);
    case NodeKind::product:
      return product(node, hint);
    case NodeKind::transpose:
      return transposed(eval(node.args[0]), node.mark, hint);
    default:
      source_.fail(node.mark, "a function where a value is meant",
                   "functions are arguments of map, zipwith, reduce, mxv and mxvt");
  }
}

Term Lowering::element(const Node& node) { return require_element(eval(node), node); }

Term Lowering::require_element(Term term, const Node& node) const {
  if (!term.bare() || term.leaves[0] < 0) return term;
  const Type& type = module_.type(term.leaves[0]);
  if (type.sparse) return entries_term(std::move(term));
  if (type.list > 0) {
    source_.fail(node.mark, fmt::format("'{}' is a list", node.text), "expressions take its arrays one by one",
                 fmt::format("write {}[i]", node.text));
  }
  return term;
}

std::vector<Term> Lowering::elements(const std::vector<Node>& nodes, size_t from) {
  std::vector<Term> terms;
  for (size_t i = from; i < nodes.size(); ++i) terms.push_back(element(nodes[i]));
  return terms;
}

Term Lowering::literal(const Node& node) {
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
  }
  if (node.suffix.empty()) return term;
  term = at(node.mark, [&] { return adapt(std::move(term), scalar_named(node.suffix)); });
  term.literal = false;
  return term;
}

Term Lowering::name(const Node& node) {
  const Frame* outermost = nullptr;
  for (const Frame* f = frame_; f != nullptr; f = f->parent) {
    const auto it = f->names.find(node.text);
    if (it != f->names.end()) return charge(it->second);
    if (f->closed) outermost = f;
  }
  if (outermost == nullptr) return name_of_program(node);
  const Binding* b = find(node.text);
  if (b != nullptr && b->kind == Binding::Kind::constant) return b->term;
  if (b != nullptr && b->kind == Binding::Kind::dimension) return name_of_program(node);
  if (b != nullptr) {
    source_.fail(node.mark, fmt::format("'{}' is not visible in a function", node.text),
                 "a fn sees its parameters, its own names and consts", "pass it as an argument");
  }
  Names known = visible_names();
  for (const auto& [text, term] : outermost->names) known.push_back(text);
  const Habit* habit = find_habit(node.text, true);
  source_.fail(node.mark, fmt::format("unknown name '{}'", node.text), "it is no parameter and no const",
               habit != nullptr ? habit_remedy(*habit) : did_you_mean(node.text, known));
}

Term Lowering::name_of_program(const Node& node) {
  const Binding* b = find(node.text);
  if (b == nullptr) {
    const bool is_fn = functions_.contains(node.text) || find_scalar_op(node.text, 1) != nullptr ||
                       find_scalar_op(node.text, 2) != nullptr || find_primitive(node.text) != nullptr;
    std::string remedy = is_fn ? fmt::format("call it: {}(...)", node.text) : did_you_mean(node.text, visible_names());
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
      return charge(b->term);
    case Binding::Kind::dimension: {
      const std::int64_t size = module_.dim(b->dim).size;
      if (size >= 0) return literal_term(Scalar::i64, Word::integer(size));
      source_.fail(node.mark, fmt::format("'{}' is a dimension", node.text), "only run knows its size",
                   fmt::format("write size({})", node.text));
    }
    default:
      return value_term(b->id, true);
  }
}

Term Lowering::value_term(ValueId id, bool named) {
  Term term = leaf_term(id, module_.type(id).element, module_.type(id).dims);
  term.named = named;
  return term;
}

// x ^ 2 and x ^ 3 are products: exact where pow is not, and of any numeric type.
Term Lowering::operation(const Node& node) {
  std::vector<Term> args = elements(node.args);
  const Term& last = args.back();
  const bool whole = node.op == ScalarOp::pow && last.literal && last.type().is(Scalar::i64);
  const std::int64_t power = whole ? last.expr.literal.i : 0;
  return at(node.mark, [&] {
    if (power != 2 && power != 3) return combine(module_, node.op, std::move(args));
    const Term base = args[0];
    Term result = base;
    for (std::int64_t i = 1; i < power; ++i) {
      std::vector<Term> factors;
      factors.push_back(std::move(result));
      factors.push_back(charge(base));
      result = combine(module_, ScalarOp::mul, std::move(factors));
    }
    return result;
  });
}

// An array of a list, or a coordinate of each point.
Term Lowering::index(const Node& node, const std::string& hint) {
  Term array = eval(node.args[0]);
  const bool leaf = array.bare() && array.leaves[0] >= 0;
  if (!leaf || module_.type(array.leaves[0]).list == 0) {
    array = require_element(std::move(array), node.args[0]);
    if (!array.type().is_array()) refuse_element(array, node);
    Term place = element(node.args[1]);
    return at(node.mark, [&] { return element_term(module_, std::move(array), std::move(place)); });
  }
  const ValueId list = array.leaves[0];
  Type type = module_.type(list);
  const Term place = element(node.args[1]);
  if (place.literal && place.type().is(Scalar::i64) &&
      (place.expr.literal.i < 0 || place.expr.literal.i >= type.list)) {
    source_.fail(node.args[1].mark, fmt::format("{} is outside the list", place.expr.literal.i),
                 fmt::format("'{}' holds {} arrays, 0 to {}", node.args[0].text, type.list, type.list - 1));
  }
  const ValueId i = shared(node.args[1], Scalar::i64, "i", "an index of a list");
  type.list = 0;
  const ValueId got = emit(OpCode::get, node.mark, hint, type, [&](Op& op) { op.operands = {list, i}; });
  return value_term(got, false);
}

// `x[3]` of a vector: [ ] takes an index of a list or a coordinate only.
void Lowering::refuse_element(const Term& array, const Node& node) const {
  Type type;
  type.element = array.type();
  type.dims = array.dims;
  const bool local = array.dims.size() == 1 && module_.dim(array.dims[0]).local;
  std::string remedy;
  if (array.dims.size() == 1) {
    const std::string& dim = module_.dim(array.dims[0]).name;
    remedy = local ? "write at(x, 3)" : fmt::format("write sum(if i64(index({})) == 3 then x else 0)", dim);
  } else if (!array.dims.empty()) {
    remedy = fmt::format("write at(A, 3, over {}), if that dimension is local", module_.dim(array.dims.back()).name);
  }
  source_.fail(node.mark, fmt::format("no element access in {}", show(module_, type)),
               "[ ] takes an array of a list, or a coordinate of small arrays such as [f64; 3]", remedy);
}

Term Lowering::loop(const Node& node) {
  const std::int64_t count = constant_count(node.args[0], 1, "the number of coordinates");
  const int number = loops_++;
  Frame frame;
  frame.parent = frame_;
  frame.function = true;
  frame.names[node.text].expr = make_loop_var(number);
  const Frame* outer = std::exchange(frame_, &frame);
  try {
    Term body = element(node.args[1]);
    frame_ = outer;
    return at(node.mark, [&] { return loop_term(node.op, number, count, std::move(body)); });
  } catch (...) {
    frame_ = outer;
    throw;
  }
}

Term Lowering::call(const Node& node, const std::string& hint) {
  const auto fn = functions_.find(node.text);
  if (fn != functions_.end()) return call_fn(*fn->second, elements(node.args), node.mark);
  const bool binary = node.args.size() == 2 && find_scalar_op(node.text, 2) != nullptr;
  const bool over = node.args.size() == 2 && node.args[1].kind == NodeKind::over;
  if (!binary || over) {
    if (const Primitive* primitive = find_primitive(node.text)) {
      if (in_function()) {
        source_.fail(node.mark, fmt::format("'{}' inside a function", node.text),
                     "functions work on elements; whole arrays are not visible there",
                     "compute it before and pass it as an argument (coordinates: sum(j in d: p[j]))");
      }
      return (this->*primitive->call)(node, hint);
    }
  }
  return scalar_call(node);
}

Term Lowering::scalar_call(const Node& node) {
  const Scalar to = scalar_named(node.text);
  const bool known = to != Scalar::null || std::any_of(scalar_op_rows().begin(), scalar_op_rows().end(), [&](auto& r) {
                       return r.result != ResultRule::special && r.name == node.text;
                     });
  if (!known) unknown_function(node.text, node.args.size(), node.mark);  // before errors in its arguments
  std::vector<Term> args = elements(node.args);
  if (to != Scalar::null) {
    if (args.size() != 1) source_.fail(node.mark, fmt::format("{}(x) takes one argument", node.text));
    return at(node.mark, [&] { return convert_term(module_, to, std::move(args[0])); });
  }
  const ScalarOpRow* found = find_scalar_op(node.text, static_cast<int>(args.size()));
  if (found == nullptr) unknown_function(node.text, args.size(), node.mark);
  return at(node.mark, [&] { return combine(module_, found->op, std::move(args)); });
}

}  // namespace kasen::lang
