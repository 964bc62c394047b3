// User functions, lambdas, and functions as arguments: a call substitutes the arguments in the body.
#include <fmt/format.h>

#include <utility>

#include "libcore/lang/lower.h"
#include "libcore/lang/prelude.h"
#include "libcore/syntax/habits.h"

namespace kasen::lang {

void Lowering::unknown_function(const std::string& name, size_t arguments, Mark mark) {
  Names known = primitive_names();
  std::string arities;
  for (const ScalarOpRow& r : scalar_op_rows()) {
    if (r.result == ResultRule::special) continue;
    known.emplace_back(r.name);
    if (r.name == name) arities = std::to_string(r.arity);
  }
  if (!arities.empty()) {
    source_.fail(mark, fmt::format("'{}' with {} arguments", name, arguments), fmt::format("it takes {}", arities));
  }
  for (const auto& [text, fn] : functions_) known.push_back(text);
  std::string why = "no fn and no built-in function has that name";
  std::string remedy = did_you_mean(name, known, Slips::few);
  const Habit* habit = find(name) == nullptr ? find_habit(name, false) : nullptr;
  if (habit != nullptr) {
    if (!habit->why.empty()) why = habit->why;
    remedy = habit_remedy(*habit);
  }
  if (find(name) != nullptr) why = "the name stands for a value, not for a function";
  source_.fail(mark, fmt::format("unknown function '{}'", name), why, remedy);
}

void Lowering::bind_params(Frame& frame, const std::vector<ParamNode>& params, std::vector<Term> args, Mark mark,
                           const std::string& what) {
  if (params.size() != args.size()) {
    source_.fail(mark, fmt::format("{} takes {} argument{}, not {}", what, params.size(), params.size() == 1 ? "" : "s",
                                   args.size()));
  }
  for (size_t i = 0; i < params.size(); ++i) {
    Term& arg = args[i];
    if (!params[i].type.empty()) {
      const ElementType wanted = element_type(params[i].type[0]);
      if (wanted.is_scalar()) arg = at(mark, [&] { return adapt(std::move(arg), wanted.scalar()); });
      if (arg.type() != wanted) {
        source_.fail(mark,
                     fmt::format("parameter '{}' of {} is {}, not {}", params[i].name, what, show(module_, wanted),
                                 show(module_, arg.type())),
                     "nothing is converted silently",
                     wanted.is_scalar() ? fmt::format("write {}(x)", show(module_, wanted)) : "");
      }
      arg.literal = false;
    }
    arg.named = false;
    arg.origin = nullptr;
    if (!frame.names.emplace(params[i].name, std::move(arg)).second) {
      source_.fail(params[i].mark, fmt::format("two parameters are called '{}'", params[i].name));
    }
  }
}

Term Lowering::call_fn(const Statement& fn, std::vector<Term> args, Mark mark) {
  const std::string what = fmt::format("fn '{}'", fn.name.text);
  if (!active_.insert(&fn).second) {
    source_.fail(mark, fmt::format("{} calls itself", what), "functions are expressions; recursion is not possible",
                 "use a loop of the program");
  }
  const Frame* outer = frame_;
  const auto leave = [&] {
    active_.erase(&fn);
    frame_ = outer;
  };
  std::vector<ValueId> leaves;
  for (const Term& arg : args) {
    if (arg.bare()) leaves.push_back(arg.leaves[0]);
  }
  const bool direct = leaves.size() == args.size();
  try {
    Frame frame;
    frame.function = frame.closed = true;
    bind_params(frame, fn.params, std::move(args), mark, what);
    frame_ = &frame;
    for (const Statement& local : fn.body) frame.names[local.name.text] = element(local.value[0]);
    Term result = element(fn.value[0]);
    leave();
    result.named = result.bare();  // the identity makes a copy where it is assigned
    if (direct) {
      result.origin = &fn;
      result.origin_leaves = std::move(leaves);
    }
    return result;
  } catch (const UserError& error) {
    leave();
    Diagnostic d = error.diagnostics().front();
    if (is_of_prelude(fn)) source_.fail(mark, fmt::format("in '{}': {}", fn.name.text, d.what), d.why, d.remedy);
    const bool inside = d.where.line > 0 && d.where.line != mark.line;
    if (!inside || d.why.find("is used on line") != std::string::npos) throw;
    d.why += fmt::format("{}{} is used on line {}", d.why.empty() ? "" : "; ", what, mark.line);
    throw UserError(error.status(), std::move(d));
  } catch (...) {
    leave();
    throw;
  }
}

Term Lowering::call_lambda(const Node& node, std::vector<Term> args) {
  Frame frame;
  frame.parent = frame_;
  frame.function = true;
  bind_params(frame, node.params, std::move(args), node.mark, "this function");
  const Frame* outer = std::exchange(frame_, &frame);
  try {
    Term result = element(node.args[0]);
    frame_ = outer;
    result.named = result.bare();  // the identity makes a copy where it is assigned
    result.origin = nullptr;
    return result;
  } catch (...) {
    frame_ = outer;
    throw;
  }
}

// A function argument, applied: a lambda, an operator symbol, a fn, a conversion or a built-in.
Term Lowering::apply_function(const Node& fn, std::vector<Term> args, Mark mark) {
  if (fn.kind == NodeKind::lambda) return call_lambda(fn, std::move(args));
  if (fn.kind == NodeKind::op_ref) {
    const ScalarOpRow* found = find_scalar_symbol(fn.text, static_cast<int>(args.size()));
    if (found == nullptr) {
      source_.fail(fn.mark, fmt::format("'{}' is no operator of {} arguments", fn.text, args.size()));
    }
    return at(mark, [&] { return combine(module_, found->op, std::move(args)); });
  }
  if (fn.kind != NodeKind::name) {
    source_.fail(fn.mark, "a value where a function is meant",
                 "the function comes first: a fn, a built-in, an operator or (x, y) -> expression");
  }
  const auto user = functions_.find(fn.text);
  if (user != functions_.end()) return call_fn(*user->second, std::move(args), mark);
  const Scalar to = scalar_named(fn.text);
  if (to != Scalar::null && args.size() == 1) {
    return at(mark, [&] { return convert_term(module_, to, std::move(args[0])); });
  }
  const ScalarOpRow* found = find_scalar_op(fn.text, static_cast<int>(args.size()));
  if (found == nullptr) unknown_function(fn.text, args.size(), fn.mark);
  return at(mark, [&] { return combine(module_, found->op, std::move(args)); });
}

}  // namespace kasen::lang
