#include "libcore/lang/declare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "libcore/base/input_values.h"
#include "libcore/syntax/habits.h"

namespace kasen::lang {

// Matrices over two distributed dimensions are sparse unless declared dense; null ones are always sparse.
void Declarations::input(const Statement& s) {
  const TypeNode& node = s.type[0];
  Type type = types_.array(node);
  if (type.dims.empty()) {
    source_.fail(s.mark, fmt::format("the input '{}' has no dimension", s.name.text), "inputs are arrays of the bundle",
                 fmt::format("write param {} = ... for a single value", s.name.text));
  }
  const auto cut = [&](DimId d) { return !module_.dim(d).local; };
  type.sparse =
      type.dims.size() == 2 && (type.element.is(Scalar::null) || std::all_of(type.dims.begin(), type.dims.end(), cut));
  if (node.storage == "dense") type.sparse = false;
  if (node.storage == "sparse") type.sparse = true;
  require_storage(s, type);
  const ValueId value = builder_.emit({.code = OpCode::input, .name = s.name.text}, s.mark, s.name.text, type);
  if (type.sparse && node.storage.empty() && !type.element.is(Scalar::null)) builder_.add_sparse_by_dims(value);
  if (!s.file.empty()) builder_.add_file(s.name.text, s.file);
  scopes_.define(s.name.text, s.mark, {.id = value, .fixed = type.sparse ? "it is a matrix of the bundle" : ""});
}

void Declarations::require_storage(const Statement& s, const Type& type) const {
  const Mark mark = s.type[0].mark;
  const std::vector<DimId>& dims = type.dims;
  if (type.sparse && (dims.size() < 2 || dims.size() > 3 || !type.element.is_scalar())) {
    source_.fail(mark, fmt::format("'{}' cannot be sparse", s.name.text),
                 "sparse arrays are matrices (two dimensions) of scalars, or batches of them (three)");
  }
  const auto local = [&](DimId d) { return module_.dim(d).local; };
  const bool batches = type.sparse && dims.size() == 3;
  if (batches && (!local(dims[0]) || std::count(dims.begin(), dims.end(), dims[0]) > 1)) {
    source_.fail(mark, fmt::format("'{}' cannot be sparse", s.name.text),
                 fmt::format("its first dimension, {}, counts batches: every worker has its share of each",
                             module_.dim(dims[0]).name),
                 fmt::format("declare it local, dim {} local say, and name it once", module_.dim(dims[0]).name));
  }
  if (type.sparse && std::all_of(dims.begin() + (batches ? 1 : 0), dims.end(), local)) {
    const std::string& rows = module_.dim(dims[batches ? 1 : 0]).name;
    source_.fail(mark, fmt::format("'{}' cannot be sparse", s.name.text),
                 fmt::format("every worker holds dimensions {} and {} whole, and stored entries are cut over workers",
                             rows, module_.dim(dims.back()).name),
                 fmt::format("leave out 'local' at one of them, dim {} say, or make the array dense", rows));
  }
  if (type.element.is(Scalar::null) && !type.sparse) {
    source_.fail(mark, fmt::format("'{}' has elements without a value", s.name.text),
                 "only a sparse matrix can be null: its stored entries count as 1", "give it a type, for example f64");
  }
}

bool Declarations::is_id_param(const Statement& s) {
  return s.kind == StatementKind::param && !s.type.empty() && types_.element(s.type[0]).is(Scalar::id);
}

// The value of a const or the default of a param, as written.
Term Declarations::written_value(const Statement& s) {
  const Mark mark = s.value[0].mark;
  Type type;
  if (!s.type.empty()) type = types_.array(s.type[0]);
  // The user writes an id as an integer; the run converts it to a position.
  if (is_id_param(s)) type.element = ElementType::of(Scalar::i64);
  Term term = s.type.empty() ? evaluator_.element(s.value[0]) : evaluator_.typed(s.value[0], type.element);
  if (!term.known()) {
    source_.fail(mark, fmt::format("the value of '{}' must be known to plan", s.name.text),
                 "it is made of literals and consts");
  }
  if (s.type.empty()) return term;
  if (!type.dims.empty()) source_.fail(s.type[0].mark, "consts and params are single values", {}, "use an input");
  return values_.conform(std::move(term), type, mark, fmt::format("'{}'", s.name.text));
}

// `-D` may change the value, not its type.
Term Declarations::default_of(const Statement& s) {
  Term written = written_value(s);
  const auto given = defines_.find(s.name.text);
  if (given == defines_.end()) return written;
  defined_.insert(s.name.text);
  const std::string type = show(module_, written.type());
  const bool id = !s.type.empty() && s.type[0].components.size() == 1 && s.type[0].components[0].scalar == "id";
  const std::string remedy =
      id ? fmt::format("give a number; a word of the data is for the run: --param {}={}", s.name.text, given->second)
         : fmt::format("give a value of type {}", type);
  if (given->second.empty()) fail(ExitStatus::usage, fmt::format("-D {}= gives no value", s.name.text), {}, remedy);
  const SourceText source{given->second, fmt::format("-D {}", s.name.text)};
  try {
    Term term = evaluator_.typed(parse_expression(source), written.type());
    if (written.type().is_scalar()) term = adapt(std::move(term), written.type().scalar());
    if (!term.known() || term.type() != written.type()) {
      fail(ExitStatus::usage, fmt::format("'{}' is {}", s.name.text, type));
    }
    term.literal = written.literal;
    return term;
  } catch (const UserError& error) {
    const Diagnostic& d = error.diagnostics().front();
    fail(ExitStatus::usage, fmt::format("-D {}={}: {}", s.name.text, given->second, d.what), d.why, remedy);
  }
}

void Declarations::constant(const Statement& s) {
  Term term = default_of(s);
  if (!term.type().is_scalar()) source_.fail(s.mark, fmt::format("const '{}' is no scalar", s.name.text));
  const Scalar scalar = term.type().scalar();
  const Word word = constant_words(term)[0];
  const bool literal = term.literal;
  term = literal_term(scalar, word);
  term.literal = literal;
  builder_.add_constant({s.name.text, scalar, word});
  scopes_.define(s.name.text, s.mark,
                 {.kind = Binding::Kind::constant, .term = std::move(term), .fixed = "it is a const"});
}

void Declarations::param(const Statement& s) {
  const Term term = default_of(s);
  const ElementType type = is_id_param(s) ? types_.element(s.type[0]) : term.type();
  const ValueId id = builder_.emit({.code = OpCode::param, .name = s.name.text, .literal = constant_words(term)},
                                   s.mark, s.name.text, {type});
  scopes_.define(s.name.text, s.mark, {.id = id});
}

// A list is an output for each of its arrays: l_0, l_1, ...
void Declarations::output_list(const Statement& s, ValueId list) {
  Type type = module_.type(list);
  const std::int64_t arrays = std::exchange(type.list, 0);
  const Mark mark = s.value[0].mark;
  for (std::int64_t i = 0; i < arrays; ++i) {
    const std::string name = fmt::format("{}_{}", s.name.text, i);
    const ValueId at = values_.constant(literal_term(Scalar::i64, Word::integer(i)), "i", mark);
    add_output(name, builder_.emit({.code = OpCode::get, .operands = {list, at}}, mark, name, type), s.mark);
  }
}

void Declarations::add_output(const std::string& name, ValueId value, Mark mark) {
  if (std::any_of(outputs_.begin(), outputs_.end(), [&](const Op& op) { return op.name == name; })) {
    source_.fail(mark, fmt::format("two outputs are called '{}'", name), {},
                 fmt::format("name one of them: output other = {}", name));
  }
  outputs_.push_back({.code = OpCode::output, .operands = {value}, .name = name, .where = location(mark)});
}

void Declarations::output(const Statement& s) {
  const std::string& name = s.name.text;
  const Mark mark = s.value[0].mark;
  Term term = evaluator_.eval(s.value[0]);
  if (term.bare() && term.leaves[0] >= 0 && module_.type(term.leaves[0]).list > 0) {
    return output_list(s, term.leaves[0]);
  }
  term = evaluator_.require_element(std::move(term), s.value[0]);
  const ValueId value = formulas_.is_entries(term) ? folds_.store_with_indices(std::move(term), mark, name)
                                                   : values_.materialise(std::move(term), name, mark);
  add_output(name, value, s.mark);
}

void Declarations::append_outputs() {
  if (outputs_.empty()) {
    source_.fail({}, "the program has no output", "without one it has no result", "add a line: output x");
  }
  for (Op& op : outputs_) builder_.append(std::move(op));
}

void Declarations::check_defines() const {
  for (const auto& [name, value] : defines_) {
    if (defined_.contains(name)) continue;
    const DimId made = module_.find_dim(name);  // by a def
    if (made != no_dim && std::to_string(module_.dim(made).size) == value) continue;
    Names known;
    for (const Constant& c : module_.constants) known.push_back(c.name);
    for (const Op& op : module_.body.ops) {
      if (op.code == OpCode::input && op.name == name) refuse_value_of_input(name, value);
      if (op.code == OpCode::param) known.push_back(op.name);
    }
    for (const Dimension& dim : module_.dims) {
      if (!dim.is_derived() && !dim.is_entries()) known.push_back(dim.name);
    }
    std::string remedy = did_you_mean(name, known);
    if (remedy.empty() && made != no_dim) remedy = "a def makes this dimension; leave it out";
    if (remedy.empty()) remedy = known.empty() ? "leave it out" : fmt::format("it has {}", fmt::join(known, ", "));
    fail(ExitStatus::usage,
         fmt::format("-D {}={}: the program has no const, param or dimension '{}'", name, value, name), {}, remedy);
  }
}

}  // namespace kasen::lang
