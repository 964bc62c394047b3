// Dimensions, consts, params, inputs, functions and outputs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "libcore/lang/lower.h"
#include "libcore/lang/prelude.h"
#include "libcore/syntax/habits.h"

namespace kasen::lang {
namespace {

constexpr std::int64_t max_coordinates = 1 << 16;

}  // namespace

DimId Lowering::dim_named(const NameAt& name) {
  const Binding* b = find(name.text);
  if (b != nullptr && b->kind == Binding::Kind::poisoned) throw Poisoned{};
  if (b != nullptr && b->kind == Binding::Kind::dimension) return b->dim;
  Names dims;
  for (const Dimension& d : module_.dims) dims.push_back(d.name);
  const std::string near = did_you_mean(name.text, dims);
  source_.fail(name.mark, fmt::format("'{}' is no dimension", name.text),
               b != nullptr ? "the name stands for a value" : "dimensions are declared first",
               near.empty() ? fmt::format("declare it: dim {}", name.text) : near);
}

std::int64_t Lowering::constant_count(const Node& node, std::int64_t lowest, const std::string& what) {
  const Term term = element(node);
  const bool whole = term.leaves.empty() && term.dims.empty() && term.expr.op == ScalarOp::constant &&
                     is_integer(term.type().scalar());
  if (!whole) {
    source_.fail(node.mark, fmt::format("{} must be known to plan", what),
                 "it is an integer, a const, or an expression of them", "make it a const: const k = 5");
  }
  const std::int64_t value = term.expr.literal.i;
  if (value >= lowest) return value;
  source_.fail(node.mark, fmt::format("{} is {}", what, value), fmt::format("it must be at least {}", lowest));
}

ElementType Lowering::element_type(const TypeNode& node) {
  ElementType type;
  type.tuple = node.tuple;
  type.components.clear();
  for (const ComponentNode& c : node.components) {
    Component made{scalar_named(c.scalar), no_dim, 0};
    if (made.scalar == Scalar::id) made.id_of = dim_named({c.id_of, c.mark});
    if (!c.count.empty()) {
      made.count = constant_count(c.count[0], 1, "the number of coordinates");
      if (made.count > max_coordinates) {
        source_.fail(c.mark, fmt::format("{} coordinates in one element", made.count),
                     fmt::format("at most {} are possible", max_coordinates), "make them a dimension: dim F local");
      }
    }
    if (made.scalar == Scalar::null && (node.tuple || made.count > 0)) {
      source_.fail(c.mark, "null inside an element", "null means that an entry has no value at all");
    }
    type.components.push_back(made);
  }
  return type;
}

Type Lowering::array_type(const TypeNode& node) {
  Type type;
  type.element = element_type(node);
  for (const NameAt& name : node.dims) type.dims.push_back(dim_named(name));
  return type;
}

// Matrices over two distributed dimensions are sparse unless declared dense; null ones are always sparse.
void Lowering::input(const Statement& s) {
  const TypeNode& node = s.type[0];
  Type type = array_type(node);
  if (type.dims.empty()) {
    source_.fail(s.mark, fmt::format("the input '{}' has no dimension", s.name.text), "inputs are arrays of the bundle",
                 fmt::format("write param {} = ... for a single value", s.name.text));
  }
  const bool rank2 = type.dims.size() == 2;
  const bool null = type.element.is(Scalar::null);
  type.sparse = rank2 && (null || !(module_.dim(type.dims[0]).local || module_.dim(type.dims[1]).local));
  if (node.storage == "dense") type.sparse = false;
  if (node.storage == "sparse") type.sparse = true;
  if (type.sparse && (!rank2 || !type.element.is_scalar())) {
    source_.fail(node.mark, fmt::format("'{}' cannot be sparse", s.name.text),
                 "sparse arrays are matrices (two dimensions) of scalars");
  }
  const auto local = [&](DimId d) { return module_.dim(d).local; };
  if (const auto d = std::find_if(type.dims.begin(), type.dims.end(), local); type.sparse && d != type.dims.end()) {
    source_.fail(
        node.mark, fmt::format("'{}' cannot be sparse", s.name.text),
        fmt::format("every worker holds dimension {} whole, and stored entries are cut over workers along both",
                    module_.dim(*d).name),
        fmt::format("leave out 'local' at dim {}, or make the array dense", module_.dim(*d).name));
  }
  if (null && !type.sparse) {
    source_.fail(node.mark, fmt::format("'{}' has elements without a value", s.name.text),
                 "only a sparse matrix can be null: its stored entries count as 1", "give it a type, for example f64");
  }
  const bool sparse = type.sparse;
  const ValueId value = emit(OpCode::input, s.mark, s.name.text, type, [&](Op& op) { op.name = s.name.text; });
  Binding b = value_binding(value);
  if (sparse) b.fixed = "it is a matrix of the bundle";
  define(s.name.text, s.mark, std::move(b));
}

void Lowering::dimension(const Statement& s) {
  Dimension dim{s.name.text, s.local, -1};
  if (!s.value.empty()) dim.size = constant_count(s.value[0], 1, fmt::format("the size of '{}'", s.name.text));
  module_.dims.push_back(std::move(dim));
  Binding b;
  b.kind = Binding::Kind::dimension;
  b.dim = static_cast<DimId>(module_.dims.size()) - 1;
  b.fixed = "it is a dimension";
  define(s.name.text, s.mark, std::move(b));
}

bool Lowering::is_id_param(const Statement& s) {
  return s.kind == StatementKind::param && !s.type.empty() && element_type(s.type[0]).is(Scalar::id);
}

// The value of a const or the default of a param, as written.
Term Lowering::written_value(const Statement& s) {
  const Mark mark = s.value[0].mark;
  Type type;
  if (!s.type.empty()) type = array_type(s.type[0]);
  // The user writes an id as an integer; the run converts it to a position.
  if (is_id_param(s)) type.element = ElementType::of(Scalar::i64);
  Term term = s.type.empty() ? element(s.value[0]) : typed_element(s.value[0], type.element);
  if (!term.leaves.empty() || !term.dims.empty()) {
    source_.fail(mark, fmt::format("the value of '{}' must be known to plan", s.name.text),
                 "it is made of literals and consts");
  }
  if (s.type.empty()) return term;
  if (!type.dims.empty()) source_.fail(s.type[0].mark, "consts and params are single values", {}, "use an input");
  return conform(std::move(term), type, mark, fmt::format("'{}'", s.name.text));
}

// `-D` may change the value, not its type.
Term Lowering::default_of(const Statement& s) {
  Term written = written_value(s);
  const auto given = defines_.find(s.name.text);
  if (given == defines_.end()) return written;
  defined_.insert(s.name.text);
  if (given->second.empty()) {
    fail(ExitStatus::usage, fmt::format("-D {}= gives no value", s.name.text), {},
         fmt::format("give a value of type {}", show(module_, written.type())));
  }
  const SourceText source{given->second, fmt::format("-D {}", s.name.text)};
  try {
    Term term = typed_element(parse_expression(source), written.type());
    if (written.type().is_scalar()) term = adapt(std::move(term), written.type().scalar());
    if (!term.leaves.empty() || !term.dims.empty() || term.type() != written.type()) {
      fail(ExitStatus::usage, fmt::format("'{}' is {}", s.name.text, show(module_, written.type())));
    }
    term.literal = written.literal;
    return term;
  } catch (const UserError& error) {
    const Diagnostic& d = error.diagnostics().front();
    fail(ExitStatus::usage, fmt::format("-D {}={}: {}", s.name.text, given->second, d.what), d.why,
         fmt::format("give a value of type {}", show(module_, written.type())));
  }
}

void Lowering::constant(const Statement& s) {
  Term term = default_of(s);
  if (!term.type().is_scalar()) source_.fail(s.mark, fmt::format("const '{}' is no scalar", s.name.text));
  const Scalar scalar = term.type().scalar();
  const Word word = constant_words(term)[0];
  const bool literal = term.literal;
  term = literal_term(scalar, word);
  term.literal = literal;
  module_.constants.push_back({s.name.text, scalar, word});
  Binding b;
  b.kind = Binding::Kind::constant;
  b.term = std::move(term);
  b.fixed = "it is a const";
  define(s.name.text, s.mark, std::move(b));
}

void Lowering::param(const Statement& s) {
  const Term term = default_of(s);
  Type type;
  type.element = is_id_param(s) ? element_type(s.type[0]) : term.type();
  const ValueId id = emit(OpCode::param, s.mark, s.name.text, type, [&](Op& op) {
    op.name = s.name.text;
    op.literal = constant_words(term);
  });
  define(s.name.text, s.mark, value_binding(id));
}

void Lowering::output(const Statement& s) {
  Term term = element(s.value[0]);
  const ValueId value = materialise(std::move(term), s.name.text, s.value[0].mark);
  const bool again =
      std::any_of(outputs_.begin(), outputs_.end(), [&](const Op& op) { return op.name == s.name.text; });
  if (again) {
    source_.fail(s.mark, fmt::format("two outputs are called '{}'", s.name.text), {},
                 fmt::format("name one of them: output other = {}", s.name.text));
  }
  Op op;
  op.code = OpCode::output;
  op.name = s.name.text;
  op.operands = {value};
  op.where = {"", s.mark.line, s.mark.column};
  outputs_.push_back(std::move(op));
}

// `assume identity(f, e)`, wherever it is in the program.
void Lowering::register_identity(const Statement& s) {
  if (s.arguments.size() != 2 || s.arguments[0].kind != NodeKind::name) {
    source_.fail(s.mark, "identity of a function and a value", {}, "write identity(f, 0)");
  }
  const Node& f = s.arguments[0];
  if (!functions_.contains(f.text)) {
    source_.fail(f.mark, "assumptions are about functions of the program", "built-in functions are known",
                 "declare it: fn f(x, y) = ...");
  }
  if (!identities_.emplace(f.text, &s.arguments[1]).second) {
    source_.fail(s.mark, fmt::format("two identities of '{}'", f.text));
  }
}

void Lowering::register_identities(const std::vector<Statement>& program) {
  for (const Statement& s : program) {
    if (s.kind != StatementKind::assume || s.name.text != "identity") continue;
    try {
      register_identity(s);
    } catch (const UserError& error) {
      faults_.push_back(error.diagnostics().front());
    }
  }
}

void Lowering::register_functions(const std::vector<Statement>& program) {
  for (const Statement& s : program) {
    if (s.kind != StatementKind::function) continue;
    const std::string& name = s.name.text;
    const Primitive* primitive = find_primitive(name);
    bool builtin = primitive != nullptr && !primitive->yields;
    for (const ScalarOpRow& r : scalar_op_rows()) {
      builtin = builtin || (r.result != ResultRule::special && r.name == name);
    }
    try {
      if (builtin) {
        source_.fail(s.mark, fmt::format("fn '{}' has the name of a built-in function", name), {},
                     fmt::format("choose another, for example my_{}", name));
      }
      if (!functions_.emplace(name, &s).second)
        source_.fail(s.mark, fmt::format("two functions are called '{}'", name));
    } catch (const UserError& error) {
      faults_.push_back(error.diagnostics().front());
    }
  }
  for (const Statement& fn : prelude()) functions_.emplace(fn.name.text, &fn);
}

// A fn whose parameters all have types is checked even if it is not used.
void Lowering::check_functions(const std::vector<Statement>& program) {
  for (const Statement& s : program) {
    const bool typed =
        std::all_of(s.params.begin(), s.params.end(), [](const ParamNode& p) { return !p.type.empty(); });
    if (s.kind != StatementKind::function || !typed) continue;
    try {
      std::vector<Term> args;
      for (size_t i = 0; i < s.params.size(); ++i) {
        args.push_back(leaf_term(parameter_leaf(static_cast<int>(i)), element_type(s.params[i].type[0]), {}));
      }
      (void)call_fn(s, std::move(args), s.mark);
    } catch (const UserError& error) {
      faults_.push_back(error.diagnostics().front());
    } catch (const Poisoned&) {
    }
  }
}

void Lowering::check_defines() const {
  for (const auto& [name, value] : defines_) {
    if (defined_.contains(name)) continue;
    Names known;
    for (const Constant& c : module_.constants) known.push_back(c.name);
    for (const Op& op : module_.body.ops) {
      if (op.code == OpCode::param) known.push_back(op.name);
    }
    std::string remedy = did_you_mean(name, known);
    if (remedy.empty() && module_.find_dim(name) != no_dim) {
      remedy = fmt::format("sizes of dimensions are given with --dim {}={}", name, value);
    }
    fail(ExitStatus::usage, fmt::format("-D {}={}: the program has no const or param '{}'", name, value, name), {},
         remedy);
  }
}

}  // namespace kasen::lang
