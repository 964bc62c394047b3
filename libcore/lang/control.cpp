// Loops and branches: the names that they carry, and how the blocks hand them on.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "libcore/lang/lower.h"

namespace kasen::lang {
namespace {

constexpr std::int64_t max_unrolled = 10'000;

void assigned_names(const std::vector<Statement>& body, std::vector<std::string>& names) {
  for (const Statement& s : body) {
    const bool assigns =
        s.kind == StatementKind::assign || s.kind == StatementKind::put || s.kind == StatementKind::push;
    if (assigns && std::find(names.begin(), names.end(), s.name.text) == names.end()) names.push_back(s.name.text);
    assigned_names(s.body, names);
    assigned_names(s.other, names);
  }
}

}  // namespace

// Names of enclosing blocks that the body assigns, in the order of the first assignment.
Lowering::Names Lowering::carried_names(const std::vector<const std::vector<Statement>*>& bodies, Mark mark,
                                        const std::string& what) {
  Names assigned;
  for (const std::vector<Statement>* body : bodies) assigned_names(*body, assigned);
  Names carried;
  bool poisoned = false;
  for (const std::string& name : assigned) {
    const Binding* b = find(name);
    if (b == nullptr) continue;
    if (b->kind == Binding::Kind::formula) {
      source_.fail(mark, fmt::format("this {} would change '{}'", what, name),
                   "it is an expression over stored entries, which no iteration hands on to the next",
                   "give it another name inside of the block");
    }
    poisoned = poisoned || b->kind == Binding::Kind::poisoned;
    if (b->kind == Binding::Kind::value && b->fixed.empty()) carried.push_back(name);
  }
  if (carried.empty() && poisoned) throw Poisoned{};
  if (!carried.empty()) return carried;
  source_.fail(mark, fmt::format("this {} has no effect", what),
               "it assigns no name that is defined before it; names that it defines itself end with its block",
               assigned.empty() ? "" : fmt::format("define '{}' before it", assigned[0]));
}

void Lowering::begin_body(Block& block, const Names& carried) {
  std::map<std::string, Binding> scope;
  for (const std::string& name : carried) {
    const ValueId arg = add_value(name, module_.type(find(name)->id));
    block.args.push_back(arg);
    scope[name] = value_binding(arg);
  }
  scopes_.push_back(std::move(scope));
}

std::vector<ValueId> Lowering::end_scope(const Names& carried) {
  std::vector<ValueId> values;
  for (const std::string& name : carried) values.push_back(find(name)->id);
  scopes_.pop_back();
  return values;
}

namespace {

void end_block(Block& block, std::vector<ValueId> values, Location where) {
  Op yield;
  yield.code = OpCode::yield;
  yield.operands = std::move(values);
  yield.where = std::move(where);
  block.ops.push_back(std::move(yield));
}

}  // namespace

// The names are bound to the results; a carried `test` has no name in the program.
void Lowering::finish_control(Op op, const Names& carried, std::vector<ValueId> initial, bool test) {
  op.operands.insert(op.operands.end(), initial.begin(), initial.end());
  std::vector<ValueId> results;
  for (const std::string& name : carried) results.push_back(add_value(name, module_.type(find(name)->id)));
  for (size_t i = 0; i < carried.size(); ++i) rebind(carried[i], results[i]);
  if (test) results.push_back(add_value("test", module_.type(initial.back())));
  op.results = std::move(results);
  ++ops_;
  block_->ops.push_back(std::move(op));
}

// The condition is computed before the loop and again at the end of each iteration. If it is itself a name that the
// loop carries (`while not_converged`), the loop tests that one. Otherwise the condition is carried beside the names.
void Lowering::while_loop(const Statement& s) {
  const Node& condition = s.value[0];
  const Names carried = carried_names({&s.body}, s.mark, "loop");
  Op op;
  op.code = OpCode::while_loop;
  op.likely = s.likely;
  op.where = {"", s.mark.line, s.mark.column};
  if (!s.expect.empty()) op.expect = constant_count(s.expect[0], 0, "the expected number of iterations");

  const auto itself =
      condition.kind == NodeKind::name ? std::find(carried.begin(), carried.end(), condition.text) : carried.end();
  const ValueId test = shared(condition, Scalar::boolean, "test", "the condition of while");
  std::vector<ValueId> initial;
  for (const std::string& name : carried) initial.push_back(find(name)->id);
  const bool own = itself == carried.end();
  op.test = static_cast<int>(itself - carried.begin());
  if (own) initial.push_back(test);

  Block body;
  begin_body(body, carried);
  if (own) body.args.push_back(add_value("test", module_.type(test)));
  Block* outer = std::exchange(block_, &body);
  statements(s.body);
  scopes_.push_back({});  // the condition sees the carried names at the end of the iteration
  std::vector<ValueId> yields;
  try {
    if (own) yields.push_back(shared(condition, Scalar::boolean, "test", "the condition of while"));
  } catch (...) {
    scopes_.pop_back();
    scopes_.pop_back();
    block_ = outer;
    throw;
  }
  scopes_.pop_back();
  std::vector<ValueId> values = end_scope(carried);
  values.insert(values.end(), yields.begin(), yields.end());
  end_block(body, std::move(values), op.where);
  block_ = outer;
  op.blocks.push_back(std::move(body));
  finish_control(std::move(op), carried, std::move(initial), own);
}

void Lowering::for_loop(const Statement& s) {
  const Binding* taken = find(s.name.text);
  if (taken != nullptr) {
    source_.fail(s.name.mark, fmt::format("'{}' is already declared", s.name.text), "a loop has a variable of its own",
                 "choose another name");
  }
  if (s.unroll) return unrolled(s, s.mark);
  const Names carried = carried_names({&s.body}, s.mark, "loop");
  Op op;
  op.code = OpCode::for_loop;
  op.likely = s.likely;
  op.down = s.down;
  op.where = {"", s.mark.line, s.mark.column};
  if (!s.expect.empty()) op.expect = constant_count(s.expect[0], 0, "the expected number of iterations");
  op.operands = {shared(s.index[0], Scalar::i64, "lo", "the begin of a range"),
                 shared(s.value[0], Scalar::i64, "hi", "the end of a range")};
  std::vector<ValueId> initial;
  for (const std::string& name : carried) initial.push_back(find(name)->id);

  Block body;
  body.args.push_back(add_value(s.name.text, module_.type(op.operands[0])));
  Binding variable = value_binding(body.args[0]);
  variable.fixed = "it is the variable of a loop";
  begin_body(body, carried);
  scopes_.back()[s.name.text] = std::move(variable);
  Block* outer = std::exchange(block_, &body);
  statements(s.body);
  end_block(body, end_scope(carried), op.where);
  block_ = outer;
  op.blocks.push_back(std::move(body));
  finish_control(std::move(op), carried, std::move(initial), false);
}

// Every iteration becomes statements of its own, with the variable as a constant.
void Lowering::unrolled(const Statement& s, Mark mark) {
  const std::int64_t lo = constant_count(s.index[0], 0, "the begin of an unrolled range");
  const std::int64_t hi = constant_count(s.value[0], 0, "the end of an unrolled range");
  if (hi - lo > max_unrolled) {
    source_.fail(mark, fmt::format("a loop of {} iterations is not unrolled", hi - lo),
                 fmt::format("at most {} are possible", max_unrolled), "leave out 'unroll'");
  }
  (void)carried_names({&s.body}, mark, "loop");
  for (std::int64_t iteration = 0; iteration < hi - lo; ++iteration) {
    Binding variable;
    variable.kind = Binding::Kind::constant;
    variable.term = literal_term(Scalar::i64, Word::integer(s.down ? hi - 1 - iteration : lo + iteration));
    variable.fixed = "it is the variable of a loop";
    const size_t faults = faults_.size();
    scopes_.emplace_back();
    scopes_.back()[s.name.text] = std::move(variable);
    statements(s.body);
    scopes_.pop_back();
    if (faults_.size() > faults) return;  // the other iterations have the same errors
  }
}

std::vector<ValueId> Lowering::branch(const std::vector<Statement>& body, const Names& carried, Block& block) {
  std::map<std::string, Binding> scope;
  for (const std::string& name : carried) scope[name] = value_binding(find(name)->id);
  scopes_.push_back(std::move(scope));
  Block* outer = std::exchange(block_, &block);
  statements(body);
  block_ = outer;
  return end_scope(carried);
}

void Lowering::if_else(const Statement& s) {
  const Names carried = carried_names({&s.body, &s.other}, s.mark, "if");
  Op op;
  op.code = OpCode::if_else;
  op.likely = s.likely;
  op.where = {"", s.mark.line, s.mark.column};
  op.operands = {shared(s.value[0], Scalar::boolean, "test", "the condition of if")};
  Block yes;
  Block no;
  end_block(yes, branch(s.body, carried, yes), op.where);
  end_block(no, branch(s.other, carried, no), op.where);
  op.blocks.push_back(std::move(yes));
  op.blocks.push_back(std::move(no));
  finish_control(std::move(op), carried, {}, false);
}

}  // namespace kasen::lang
