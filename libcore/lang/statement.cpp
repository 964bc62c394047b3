// Names, assignments and lists.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "libcore/lang/lower.h"
#include "libcore/syntax/habits.h"

namespace kasen::lang {

Binding* Lowering::find(const std::string& name) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto it = scope->find(name);
    if (it != scope->end()) return &it->second;
  }
  return nullptr;
}

Lowering::Names Lowering::visible_names() const {
  Names names;
  for (const auto& scope : scopes_) {
    for (const auto& [name, binding] : scope) names.push_back(name);
  }
  return names;
}

Binding Lowering::value_binding(ValueId id) const {
  Binding b;
  b.id = id;
  return b;
}

void Lowering::define(const std::string& name, Mark mark, Binding binding) {
  const Binding* known = find(name);
  if (known != nullptr && known->kind != Binding::Kind::poisoned) {
    source_.fail(mark, fmt::format("'{}' is already declared", name), {}, "choose another name");
  }
  scopes_.back()[name] = std::move(binding);
}

void Lowering::rebind(const std::string& name, ValueId id) {
  if (Binding* known = find(name)) {
    known->kind = Binding::Kind::value;
    known->id = id;
  } else {
    scopes_.back()[name] = value_binding(id);
  }
}

void Lowering::statements(const std::vector<Statement>& list) {
  constexpr size_t max_faults = 10;
  for (const Statement& s : list) {
    try {
      statement(s);
    } catch (const UserError& error) {
      if (error.status() != ExitStatus::bad_input) throw;
      faults_.insert(faults_.end(), error.diagnostics().begin(), error.diagnostics().end());
      if (faults_.size() >= max_faults) throw UserError(ExitStatus::bad_input, std::exchange(faults_, {}));
      poison(s);
    } catch (const Poisoned&) {
      poison(s);
    }
  }
}

// A name that a faulty statement would have defined counts as known, so that its uses are not reported as errors.
void Lowering::poison(const Statement& s) {
  const bool defines = s.kind == StatementKind::assign || s.kind == StatementKind::list ||
                       s.kind == StatementKind::dimension || s.kind == StatementKind::constant ||
                       s.kind == StatementKind::param || s.kind == StatementKind::input;
  if (!defines || find(s.name.text) != nullptr) return;
  Binding b;
  b.kind = Binding::Kind::poisoned;
  scopes_.back()[s.name.text] = std::move(b);
}

void Lowering::statement(const Statement& s) {
  switch (s.kind) {
    case StatementKind::assign:
      return assign(s);
    case StatementKind::put:
      return put(s);
    case StatementKind::push:
      return push(s);
    case StatementKind::list:
      return list(s);
    case StatementKind::while_loop:
      return while_loop(s);
    case StatementKind::for_loop:
      return for_loop(s);
    case StatementKind::if_else:
      return if_else(s);
    case StatementKind::output:
      return output(s);
    case StatementKind::dimension:
      return dimension(s);
    case StatementKind::constant:
      return constant(s);
    case StatementKind::param:
      return param(s);
    case StatementKind::input:
      return input(s);
    case StatementKind::function:
      return;
    case StatementKind::assume:
      assumptions_.push_back(s);  // when all functions have been used
      return;
  }
}

// A name keeps its type for good; a literal takes it.
void Lowering::assign(const Statement& s) {
  const std::string& name = s.name.text;
  Binding* known = find(name);
  if (known != nullptr && !known->fixed.empty()) {
    source_.fail(s.mark, fmt::format("'{}' cannot be assigned", name), known->fixed, "choose another name");
  }
  hint_ = name;
  Term term = s.type.empty() ? eval(s.value[0]) : typed_element(s.value[0], array_type(s.type[0]).element);
  hint_.clear();
  const bool list = term.bare() && term.leaves[0] >= 0 && module_.type(term.leaves[0]).list > 0;
  if (list) term = require_element(std::move(term), s.value[0]);  // this refuses it
  const Mark mark = s.value[0].mark;
  if (!s.type.empty()) {
    term = conform(std::move(term), array_type(s.type[0]), mark, fmt::format("'{}'", name));
  }
  known = find(name);
  if (known != nullptr && known->kind == Binding::Kind::value) {
    const Type type = module_.type(known->id);
    if (type.list > 0)
      source_.fail(s.mark, fmt::format("'{}' is a list", name), {}, fmt::format("write {}[i] = ...", name));
    if (term.literal && type.element.is_scalar()) {
      term = at(mark, [&] { return adapt(std::move(term), type.element.scalar()); });
    }
    if (term.type() != type.element || term.dims != type.dims) {
      Type now;
      now.element = term.type();
      now.dims = term.dims;
      source_.fail(s.mark, fmt::format("'{}' is {} and would become {}", name, show(module_, type), show(module_, now)),
                   "a name keeps its type and its dimensions",
                   term.dims.empty() && !type.dims.empty() ? "write fill(value, N), or choose another name"
                                                           : "convert the value, or choose another name");
    }
  }
  if (define_formula(name, term, mark)) return;
  const bool copy = term.named;
  rebind(name, materialise(std::move(term), name, mark, copy));
}

Binding& Lowering::list_named(const NameAt& name) {
  Binding* b = find(name.text);
  if (b == nullptr) {
    source_.fail(name.mark, fmt::format("unknown list '{}'", name.text), "no statement before this place declares it",
                 did_you_mean(name.text, visible_names()));
  }
  if (b->kind == Binding::Kind::poisoned) throw Poisoned{};
  const Type* type = b->kind == Binding::Kind::value ? &module_.type(b->id) : nullptr;
  if (type != nullptr && type->list > 0) return *b;
  std::string remedy = fmt::format("declare another name as one: list {}s[5] : f64 = 0", name.text);
  if (type != nullptr && !type->sparse && type->dims.size() == 1) {
    remedy = fmt::format("to change one element write {0} = if i64(index({1})) == 0 then 0 else {0}", name.text,
                         module_.dim(type->dims[0]).name);
  }
  source_.fail(name.mark, fmt::format("'{}' is no list", name.text),
               "[i] = and push are for lists of arrays; an array is made anew as a whole", remedy);
}

void Lowering::list(const Statement& s) {
  constexpr std::int64_t longest = 10'000;
  Type type = array_type(s.type[0]);
  const std::int64_t length = constant_count(s.index[0], 1, "the length of the list");
  if (length > longest) {
    source_.fail(s.index[0].mark, fmt::format("a list of {} arrays", length),
                 fmt::format("at most {} are possible", longest));
  }
  Term term = conform(typed_element(s.value[0], type.element), type, s.value[0].mark, "an array of the list");
  const ValueId first = materialise(std::move(term), "t", s.value[0].mark);
  type.list = length;
  const ValueId made = emit(OpCode::make_list, s.mark, s.name.text, type, [&](Op& op) { op.operands = {first}; });
  define(s.name.text, s.mark, value_binding(made));
}

void Lowering::put(const Statement& s) {
  const ValueId list = list_named(s.name).id;
  const Type type = module_.type(list);
  Type single = type;
  single.list = 0;
  const Term place = element(s.index[0]);
  const bool known = place.literal && place.type().is(Scalar::i64);
  if (known && (place.expr.literal.i < 0 || place.expr.literal.i >= type.list)) {
    source_.fail(s.index[0].mark, fmt::format("{} is outside the list", place.expr.literal.i),
                 fmt::format("'{}' holds {} arrays, 0 to {}", s.name.text, type.list, type.list - 1));
  }
  const ValueId i = shared(s.index[0], Scalar::i64, "i", "an index of a list");
  Term term = conform(typed_element(s.value[0], single.element), single, s.value[0].mark, "an array of the list");
  const ValueId array = materialise(std::move(term), s.name.text + "_i", s.value[0].mark);
  rebind(s.name.text, emit(OpCode::put, s.mark, s.name.text, type, [&](Op& op) { op.operands = {list, i, array}; }));
}

void Lowering::push(const Statement& s) {
  const ValueId list = list_named(s.name).id;
  const Type type = module_.type(list);
  Type single = type;
  single.list = 0;
  Term term = conform(typed_element(s.value[0], single.element), single, s.value[0].mark, "an array of the list");
  const ValueId array = materialise(std::move(term), s.name.text + "_new", s.value[0].mark);
  rebind(s.name.text, emit(OpCode::push, s.mark, s.name.text, type, [&](Op& op) { op.operands = {list, array}; }));
}

}  // namespace kasen::lang
