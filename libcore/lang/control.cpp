#include "libcore/lang/control.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "libcore/syntax/breaks.h"
#include "libcore/syntax/make_nodes.h"

namespace kasen::lang {
namespace {

constexpr std::int64_t max_unrolled = 10'000;

void add_assigned_names(const std::vector<Statement>& body, Names& names) {
  for (const Statement& s : body) {
    const bool assigns =
        s.kind == StatementKind::assign || s.kind == StatementKind::put || s.kind == StatementKind::push;
    const auto add = [&](const NameAt& name) {
      if (assigns && std::find(names.begin(), names.end(), name.text) == names.end()) names.push_back(name.text);
    };
    add(s.name);
    for (const NameAt& name : s.names) add(name);
    add_assigned_names(s.body, names);
    add_assigned_names(s.other, names);
  }
}

void add_block(Op& op, Block block, std::vector<ValueId> yielded) {
  block.ops.push_back({.code = OpCode::yield, .operands = std::move(yielded), .where = op.where});
  op.blocks.push_back(std::move(block));
}

}  // namespace

Names assigned_names(const std::vector<Statement>& body) {
  Names names;
  add_assigned_names(body, names);
  return names;
}

// Names of enclosing blocks that the bodies assign, in the order of the first assignment. Blocks hand on values, so
// expressions over stored entries are stored.
Names Control::carried_names(const Statement& s, const std::string& what) {
  Names assigned;
  add_assigned_names(s.body, assigned);
  add_assigned_names(s.other, assigned);
  Names carried;
  bool poisoned = false;
  for (const std::string& name : assigned) {
    const Binding* b = scopes_.find(name);
    if (b == nullptr) continue;
    if (b->is(Binding::Kind::formula)) {
      scopes_.rebind(name, folds_.store(b->term, s.mark, name));
      b = scopes_.find(name);
    }
    poisoned = poisoned || b->is(Binding::Kind::poisoned);
    if (b->is(Binding::Kind::value) && b->fixed.empty()) carried.push_back(name);
  }
  if (carried.empty() && poisoned) throw Poisoned{};
  if (!carried.empty()) return carried;
  source_.fail(s.mark, fmt::format("this {} has no effect", what),
               "it assigns no name that is defined before it; names that it defines itself end with its block",
               assigned.empty() ? "" : fmt::format("define '{}' before it", assigned[0]));
}

Op Control::start(OpCode code, const Statement& s) {
  Op op{.code = code, .down = s.down, .likely = s.likely, .where = location(s.mark)};
  if (!s.expect.empty()) op.expect = evaluator_.count(s.expect[0], 0, "the expected number of iterations");
  return op;
}

Scopes::Scope Control::scope_of(const Names& names, const std::vector<ValueId>& values) const {
  Scopes::Scope scope;
  for (size_t i = 0; i < names.size(); ++i) scope[names[i]] = {.id = values[i]};
  return scope;
}

Scopes::Scope Control::add_arguments(Block& block, const Names& carried) {
  std::vector<ValueId> arguments;
  for (const ValueId id : scopes_.values(carried)) {
    arguments.push_back(builder_.add_value(carried[arguments.size()], module_.type(id)));
  }
  block.args.insert(block.args.end(), arguments.begin(), arguments.end());
  return scope_of(carried, arguments);
}

// The names are bound to the results; a carried `test` has no name in the program.
void Control::finish(Op op, const Names& carried, std::vector<ValueId> initial, bool test) {
  op.operands.insert(op.operands.end(), initial.begin(), initial.end());
  for (const ValueId id : scopes_.values(carried)) {
    op.results.push_back(builder_.add_value(carried[op.results.size()], module_.type(id)));
  }
  for (size_t i = 0; i < carried.size(); ++i) scopes_.rebind(carried[i], op.results[i]);
  if (test) op.results.push_back(builder_.add_value("test", module_.type(initial.back())));
  builder_.append(std::move(op));
}

// The condition is computed before the loop and again at the end of each iteration. If it is itself a name that the
// loop carries (`while not_converged`), the loop tests that one. Otherwise the condition is carried beside the names.
void Control::while_loop(const Statement& s) {
  if (has_break(s)) return broken(s);
  const Node& condition = s.value[0];
  const auto test_value = [&] {
    return evaluator_.shared(condition, Scalar::boolean, "test", "the condition of while");
  };
  const Names carried = carried_names(s, "loop");
  Op op = start(OpCode::while_loop, s);
  const auto itself =
      condition.kind == NodeKind::name ? std::find(carried.begin(), carried.end(), condition.text) : carried.end();
  const ValueId test = test_value();
  std::vector<ValueId> initial = scopes_.values(carried);
  const bool own = itself == carried.end();
  op.test = static_cast<int>(itself - carried.begin());
  if (own) initial.push_back(test);

  Block body;
  Scopes::Scope names = add_arguments(body, carried);
  if (own) body.args.push_back(builder_.add_value("test", module_.type(test)));
  std::vector<ValueId> yielded;
  {
    const Until inside = builder_.inside(body);
    const Scopes::Inner scope(scopes_, std::move(names), s.mark);
    lower_body_(s.body);
    // The condition sees the carried names at the end of the iteration.
    const ValueId next = own ? test_value() : no_value;
    yielded = scopes_.values(carried);
    if (own) yielded.push_back(next);
  }
  add_block(op, std::move(body), std::move(yielded));
  finish(std::move(op), carried, std::move(initial), own);
}

void Control::for_loop(const Statement& s) {
  if (scopes_.find(s.name.text) != nullptr) {
    source_.fail(s.name.mark, fmt::format("'{}' is already declared", s.name.text), "a loop has a variable of its own",
                 "choose another name");
  }
  if (s.unroll) return unrolled(s);
  if (has_break(s)) return broken_for(s);
  const Names carried = carried_names(s, "loop");
  Op op = start(OpCode::for_loop, s);
  op.operands = {evaluator_.shared(s.index[0], Scalar::i64, "lo", "the begin of a range"),
                 evaluator_.shared(s.value[0], Scalar::i64, "hi", "the end of a range")};
  std::vector<ValueId> initial = scopes_.values(carried);

  Block body;
  body.args.push_back(builder_.add_value(s.name.text, module_.type(op.operands[0])));
  Scopes::Scope names = add_arguments(body, carried);
  names[s.name.text] = {.id = body.args[0], .fixed = "it is the variable of a loop"};
  std::vector<ValueId> yielded;
  {
    const Until inside = builder_.inside(body);
    const Scopes::Inner scope(scopes_, std::move(names), s.mark);
    lower_body_(s.body);
    yielded = scopes_.values(carried);
  }
  add_block(op, std::move(body), std::move(yielded));
  finish(std::move(op), carried, std::move(initial), false);
}

void Control::broken(const Statement& s) {
  const std::string flag = own_name(s.mark, "broken");
  Term no = literal_term(Scalar::boolean, Word::integer(0));
  scopes_.shadow(flag, {.id = values_.constant(no, flag, s.mark)});
  (void)lower_body_({without_breaks(s, flag)});
}

// Its number of iterations is not known, as that of a while.
void Control::broken_for(const Statement& s) {
  const Names assigned = assigned_names(s.body);
  if (std::find(assigned.begin(), assigned.end(), s.name.text) != assigned.end()) {
    source_.fail(s.name.mark, fmt::format("'{}' cannot be assigned", s.name.text), "it is the variable of a loop",
                 "choose another name");
  }
  const std::string begin = own_name(s.mark, "begin"), at = own_name(s.mark, "at"), end = own_name(s.mark, "end");
  const ValueId lo = evaluator_.shared(s.index[0], Scalar::i64, "lo", "the begin of a range");
  scopes_.shadow(begin, {.id = lo});
  scopes_.shadow(at, {.id = lo});
  scopes_.shadow(end, {.id = evaluator_.shared(s.value[0], Scalar::i64, "hi", "the end of a range")});
  broken(as_while(s, begin, at, end));
}

// Every iteration becomes statements of its own, with the variable as a constant.
void Control::unrolled(const Statement& s) {
  if (has_break(s)) {
    source_.fail(s.mark, "an unrolled loop with a break", "its iterations follow each other without a test",
                 "leave out 'unroll'");
  }
  const std::int64_t lo = evaluator_.count(s.index[0], 0, "the begin of an unrolled range");
  const std::int64_t hi = evaluator_.count(s.value[0], 0, "the end of an unrolled range");
  if (hi - lo > max_unrolled) {
    source_.fail(s.mark, fmt::format("a loop of {} iterations is not unrolled", hi - lo),
                 fmt::format("at most {} are possible", max_unrolled), "leave out 'unroll'");
  }
  (void)carried_names(s, "loop");
  for (std::int64_t iteration = 0; iteration < hi - lo; ++iteration) {
    const Word value = Word::integer(s.down ? hi - 1 - iteration : lo + iteration);
    const Binding variable{.kind = Binding::Kind::constant,
                           .term = literal_term(Scalar::i64, value),
                           .fixed = "it is the variable of a loop"};
    const Scopes::Inner scope(scopes_, {{s.name.text, variable}}, s.mark);
    if (!lower_body_(s.body)) return;  // the other iterations have the same errors
  }
}

void Control::branch(Op& op, const std::vector<Statement>& body, const Names& carried, Mark mark) {
  Block block;
  std::vector<ValueId> yielded;
  {
    const Until inside = builder_.inside(block);
    const Scopes::Inner scope(scopes_, scope_of(carried, scopes_.values(carried)), mark);
    lower_body_(body);
    yielded = scopes_.values(carried);
  }
  add_block(op, std::move(block), std::move(yielded));
}

void Control::if_else(const Statement& s) {
  const Names carried = carried_names(s, "if");
  Op op = start(OpCode::if_else, s);
  op.operands = {evaluator_.shared(s.value[0], Scalar::boolean, "test", "the condition of if")};
  branch(op, s.body, carried, s.mark);
  branch(op, s.other, carried, s.mark);
  finish(std::move(op), carried, {}, false);
}

}  // namespace kasen::lang
