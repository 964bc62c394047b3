#include "libcore/lang/calls/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "libcore/lang/terms/call_note.h"
#include "libcore/lang/terms/id_places.h"
#include "libcore/lang/terms/prelude.h"

namespace kasen::lang {

Calls::Calls(const Part& part, Frames& frames) : Part(part), frames_(frames) {
  functions_.add({"map", "Map", "zipwith", "ZipWith"}, Functions::Name::kept,
                 [this](const Node& node, const std::string&) { return map(node); });
  functions_.add({"oftype"}, Functions::Name::yields, [this](auto& node, auto&) { return of_type(node); });
}

Term Calls::typed_argument(const ParamNode& param, Term arg, Mark mark, const std::string& what) {
  const ElementType wanted = types_.element(param.type[0]);
  if (wanted.is_scalar()) arg = located(source_, mark, [&] { return adapt(std::move(arg), wanted.scalar()); });
  if (arg.type() != wanted) {
    source_.fail(mark,
                 fmt::format("parameter '{}' of {} is {}, not {}", param.name, what, show(module_, wanted),
                             show(module_, arg.type())),
                 "nothing is converted silently", conversion_to(module_, wanted, arg.type()));
  }
  arg.literal = false;
  return arg;
}

Frame Calls::frame_of(const std::vector<ParamNode>& params, std::vector<Term> args, Mark mark,
                      const std::string& what) {
  if (params.size() != args.size()) {
    source_.fail(mark, fmt::format("{} takes {} argument{}, not {}", what, params.size(), params.size() == 1 ? "" : "s",
                                   args.size()));
  }
  Frame frame;
  for (size_t i = 0; i < params.size(); ++i) {
    Term arg = std::move(args[i]);
    if (!params[i].type.empty()) arg = typed_argument(params[i], std::move(arg), mark, what);
    arg.named = false;
    arg.origin = nullptr;
    if (!frame.names.emplace(params[i].name, std::move(arg)).second) {
      source_.fail(params[i].mark, fmt::format("two parameters are called '{}'", params[i].name));
    }
  }
  return frame;
}

Term Calls::expanded(const Statement& fn, std::vector<Term> args, Mark mark) {
  std::vector<ValueId> leaves;
  for (const Term& arg : args) {
    if (arg.bare()) leaves.push_back(arg.leaves[0]);
  }
  const bool direct = leaves.size() == args.size();
  Frame frame = frame_of(fn.params, std::move(args), mark, fmt::format("fn '{}'", fn.name.text));
  frame.fn = true;
  const Until inside = frames_.inside(frame);
  const Until file = functions_.inside(fn);
  for (const Statement& local : fn.body) frame.names[local.name.text] = evaluator_.element(local.value[0]);
  Term result = evaluator_.element(fn.value[0]);
  result.named = result.bare();  // the identity makes a copy where it is assigned
  if (direct) {
    result.origin = &fn;
    result.origin_leaves = std::move(leaves);
  }
  return result;
}

Term Calls::fn(const Statement& fn, std::vector<Term> args, Mark mark) {
  const std::string what = fmt::format("fn '{}'", fn.name.text);
  if (!active_.insert(&fn).second) {
    source_.fail(mark, fmt::format("{} calls itself", what), "functions are expressions; recursion is not possible",
                 "use a loop of the program");
  }
  try {
    Term result = expanded(fn, std::move(args), mark);
    active_.erase(&fn);
    return result;
  } catch (const UserError& error) {
    active_.erase(&fn);
    Diagnostic d = error.diagnostics().front();
    if (is_of_prelude(fn)) source_.fail(mark, fmt::format("in '{}': {}", fn.name.text, d.what), d.why, d.remedy);
    const Location at = source_.location(mark);
    const bool inside = d.where.line > 0 && (d.where.line != at.line || d.where.file != at.file);
    const CallNote note(source_, fn.mark, mark, what);
    if (inside && note.enters_library()) {
      note.add_to(d);
      throw UserError(error.status(), std::move(d));
    }
    if (!inside || d.why.find("is used on line") != std::string::npos) throw;
    d.why += fmt::format("{}{} is used on line {}", d.why.empty() ? "" : "; ", what, at.line);
    if (d.where.file != at.file) d.why += fmt::format(" of {}", at.file);
    throw UserError(error.status(), std::move(d));
  } catch (...) {
    active_.erase(&fn);
    throw;
  }
}

Term Calls::lambda(const Node& node, std::vector<Term> args) {
  Frame frame = frame_of(node.params, std::move(args), node.mark, "this function");
  const Until inside = frames_.inside(frame);
  Term result = evaluator_.element(node.args[0]);
  result.named = result.bare();  // the identity makes a copy where it is assigned
  result.origin = nullptr;
  return result;
}

// `fn`: its name.
Term Calls::built_in(const Node& fn, std::vector<Term> args, Mark mark) {
  const Scalar to = scalar_named(fn.text);
  if (to != Scalar::null && args.size() == 1) {
    return located(source_, mark, [&] { return convert_term(module_, to, std::move(args[0])); });
  }
  const ScalarOpRow* found = find_scalar_op(fn.text, static_cast<int>(args.size()));
  if (functions_.def(fn.text) != nullptr) {
    source_.fail(fn.mark, fmt::format("def '{}' where a function of elements is meant", fn.text),
                 "a def works on whole arrays", fmt::format("call it by itself, or write fn {}(x) = ...", fn.text));
  }
  if (found == nullptr) functions_.unknown(fn.text, args.size(), fn.mark);
  std::vector<Operand> operands;
  for (const Term& arg : args) operands.push_back({nullptr, &arg});
  refuse_other_ids(source_, module_, mark, fn.text, operands);
  return located(source_, mark, [&] { return combine(module_, found->op, std::move(args), Pairs::open); });
}

Term Calls::scalar(const Node& call) {
  const bool conversion = scalar_named(call.text) != Scalar::null;
  if (!conversion && !Functions::is_scalar(call.text)) {
    functions_.unknown(call.text, call.args.size(), call.mark);  // before errors in its arguments
  }
  std::vector<Term> args = evaluator_.operands(call.args);
  if (conversion && args.size() != 1) source_.fail(call.mark, fmt::format("{}(x) takes one argument", call.text));
  return built_in(call, std::move(args), call.mark);
}

Term Calls::apply(const Node& fn, std::vector<Term> args, Mark mark) {
  if (fn.kind == NodeKind::lambda) return lambda(fn, std::move(args));
  if (fn.kind == NodeKind::op_ref) {
    const ScalarOpRow* found = find_scalar_symbol(fn.text, static_cast<int>(args.size()));
    if (found == nullptr) {
      source_.fail(fn.mark, fmt::format("'{}' is no operator of {} arguments", fn.text, args.size()));
    }
    return located(source_, mark, [&] { return combine(module_, found->op, std::move(args)); });
  }
  if (fn.kind != NodeKind::name) {
    source_.fail(fn.mark, "a value where a function is meant",
                 "the function comes first: a fn, a built-in, an operator or (x, y) -> expression");
  }
  if (const Statement* user = functions_.fn(fn)) return this->fn(*user, std::move(args), mark);
  return built_in(fn, std::move(args), mark);
}

FnId Calls::instantiate(const Node& fn, const std::vector<ElementType>& types, Mark mark, const std::string& what) {
  std::vector<Term> args;
  std::vector<ScalarParam> params;
  const Statement* user = functions_.fn(fn);
  const std::vector<ParamNode>& named = user != nullptr ? user->params : fn.params;  // a lambda's, or none
  std::vector<int> operand_of;
  for (size_t i = 0; i < types.size(); ++i) {
    const auto place = static_cast<int>(i);
    args.push_back(leaf_term(parameter_leaf(place), types[i], {}));
    params.push_back({i < named.size() ? named[i].name : std::string(1, static_cast<char>('x' + i)), types[i]});
    operand_of.push_back(place);
  }
  const Term body = apply(fn, std::move(args), mark);
  const bool builtin = user == nullptr && fn.kind != NodeKind::lambda;
  const std::string name = user != nullptr ? fn.text : builtin ? std::string(row(body.expr.op).name) : "f_" + what;
  ValueId stray = no_value;
  ScalarFunction made = finish_function(body, std::move(params), name, stray);
  if (stray != no_value) {
    source_.fail(fn.mark, fmt::format("this function uses '{}'", builder_.base_name(stray)),
                 fmt::format("the functions of {} see nothing but their parameters", what),
                 "make it a const, or apply it in a map before or after");
  }
  const FnId id = builder_.add_function(std::move(made));
  if (user != nullptr) functions_.add_instance(*user, {id, std::move(operand_of)});
  return id;
}

void Calls::check(const Statement& fn) {
  const auto typed = [](const ParamNode& p) { return !p.type.empty(); };
  if (!std::all_of(fn.params.begin(), fn.params.end(), typed)) return;
  std::vector<Term> args;
  for (size_t i = 0; i < fn.params.size(); ++i) {
    args.push_back(leaf_term(parameter_leaf(static_cast<int>(i)), types_.element(fn.params[i].type[0]), {}));
  }
  (void)this->fn(fn, std::move(args), fn.mark);
}

// map(f, a, b, ...) and zipwith(f, a, b, s...): only f of the elements; of single values alone, f of them.
Term Calls::map(const Node& node) {
  if (node.args.size() < 2) {
    source_.fail(node.mark, fmt::format("{} takes a function and at least one array or value", node.text));
  }
  std::vector<Term> args = evaluator_.elements(node.args, 1);
  std::vector<DimId> dims;
  std::vector<ValueId> leaves;
  for (const Term& arg : args) {
    if (arg.dims.size() > dims.size()) {
      dims = arg.dims;
      leaves = arg.leaves;
    }
  }
  // Each array is repeated to the full shape, so that the function may use them in any order.
  for (Term& arg : args) {
    const bool fits = std::all_of(arg.dims.begin(), arg.dims.end(), [&](DimId d) { return contains(dims, d); });
    if (arg.dims.empty() || arg.dims.size() == dims.size() || !fits) continue;
    arg.dims = dims;
    arg.named = false;
  }
  Term result = apply(node.args[0], std::move(args), node.mark);
  if (result.dims.size() < dims.size()) {  // the function ignores the array: its shape counts
    result.dims = std::move(dims);
    for (const ValueId leaf : leaves) {
      if (!contains(result.leaves, leaf)) result.leaves.push_back(leaf);
    }
    result.literal = false;
  }
  return result;
}

// oftype(x, n): n in the type of x's elements. Nothing of x is read.
Term Calls::of_type(const Node& node) {
  if (node.args.size() != 2) source_.fail(node.mark, "oftype takes two arguments", {}, "write oftype(x, n)");
  std::vector<Term> args = evaluator_.elements(node.args);
  const ElementType type = args[0].type();
  if (!type.is_scalar()) {
    source_.fail(node.args[0].mark, fmt::format("oftype of {}", show(module_, type)), "a conversion gives scalars");
  }
  return located(source_, node.mark, [&] { return convert_term(module_, type.scalar(), std::move(args[1])); });
}

}  // namespace kasen::lang
