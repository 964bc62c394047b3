#include "libcore/lang/statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "libcore/lang/read_again.h"

namespace kasen::lang {
namespace {

// What a faulty statement would have defined counts as known.
bool defines_name(StatementKind kind) {
  switch (kind) {
    case StatementKind::assign:
    case StatementKind::list:
    case StatementKind::dimension:
    case StatementKind::constant:
    case StatementKind::param:
    case StatementKind::input:
      return true;
    default:
      return false;
  }
}

}  // namespace

Statements::Statements(const Part& part, Folds& folds, Definitions& definitions, Declarations& declarations,
                       Lists& lists, Elements& elements)
    : Part(part),
      folds_(folds),
      definitions_(definitions),
      declarations_(declarations),
      lists_(lists),
      elements_(elements),
      control_(part, folds, [this](const std::vector<Statement>& body) { return block(body); }) {
  definitions_.set([this](auto& def, auto& note, auto& values) { return called(def, note, values); });
}

void Statements::program(const std::vector<Statement>& list) {
  try {
    lower(list);
  } catch (const TooManyFaults&) {
    throw_faults();
  }
}

bool Statements::lower(const std::vector<Statement>& list, const std::vector<Node>* results) {
  const Until<const std::vector<Statement>*> block(list_, &list);
  const Until<const std::vector<Node>*> returned(results_, results);
  bool good = true;
  for (const Statement& s : list) {
    try {
      statement(s);
      continue;
    } catch (const UserError& error) {
      if (error.status() != ExitStatus::bad_input) throw;
      keep(error.diagnostics());
    } catch (const Poisoned&) {
    }
    good = false;
    if (!defines_name(s.kind)) continue;
    scopes_.poison(s.name.text);
    for (const NameAt& name : s.names) scopes_.poison(name.text);
  }
  return good;
}

// Each fault once: the body of a def is lowered by every call.
void Statements::keep(const std::vector<Diagnostic>& faults) {
  constexpr size_t max_faults = 10;
  for (const Diagnostic& fault : faults) {
    const auto same = [&](const Diagnostic& d) { return d.where == fault.where && d.what == fault.what; };
    if (std::none_of(faults_.begin(), faults_.end(), same)) faults_.push_back(fault);
  }
  if (faults_.size() >= max_faults) throw TooManyFaults{};
}

bool Statements::block(const std::vector<Statement>& body) {
  const Until deeper(blocks_, blocks_ + 1);
  if (blocks_ > max_block_depth && !body.empty()) {
    source_.fail(body[0].mark, "blocks are nested too deeply",
                 fmt::format("at most {} levels are allowed, those of called functions counted", max_block_depth),
                 "give inner parts a name");
  }
  return lower(body);
}

bool Statements::called(const Statement& def, const CallNote& note, const std::function<void()>& values) {
  const size_t before = faults_.size();
  const auto add_note = [&] {
    if (note.enters_library()) faults_.resize(std::min(faults_.size(), before + 1));
    for (size_t i = before; i < faults_.size(); ++i) note.add_to(faults_[i]);
  };
  try {
    const bool good = lower(def.body, &def.arguments);
    if (good) values();
    add_note();
    return good;
  } catch (const UserError& error) {
    add_note();
    std::vector<Diagnostic> faults = error.diagnostics();
    for (Diagnostic& fault : faults) note.add_to(fault);
    throw UserError(error.status(), std::move(faults));
  } catch (...) {
    add_note();
    throw;
  }
}

void Statements::throw_faults() { throw UserError(ExitStatus::bad_input, std::exchange(faults_, {})); }

void Statements::refuse(const std::vector<Diagnostic>& faults) {
  constexpr size_t most = 10;
  if (faults.empty()) return;
  faults_.insert(faults_.end(), faults.begin(), faults.end());
  faults_.resize(std::min(faults_.size(), most));
  throw_faults();
}

void Statements::collect(const std::function<void()>& work) {
  try {
    work();
  } catch (const UserError& error) {
    faults_.push_back(error.diagnostics().front());
  } catch (const Poisoned&) {
  }
}

void Statements::statement(const Statement& s) {
  switch (s.kind) {
    case StatementKind::assign:
      return assign(s);
    case StatementKind::put:
      return put(s);
    case StatementKind::push:
      return lists_.push(s);
    case StatementKind::list:
      return lists_.declare(s);
    case StatementKind::while_loop:
      return control_.while_loop(s);
    case StatementKind::for_loop:
      return control_.for_loop(s);
    case StatementKind::if_else:
      return control_.if_else(s);
    case StatementKind::output:
      return declarations_.output(s);
    case StatementKind::dimension:
      return declarations_.dimension(s);
    case StatementKind::constant:
      return declarations_.constant(s);
    case StatementKind::param:
      return declarations_.param(s);
    case StatementKind::input:
      return declarations_.input(s);
    case StatementKind::break_loop:  // Control has made loops without
    case StatementKind::function:
    case StatementKind::definition:
    case StatementKind::result:
    case StatementKind::use:
    case StatementKind::assume:  // when all functions have been used
      return;
  }
}

// An array of a list, or elements of an array.
void Statements::put(const Statement& s) {
  const Binding* known = scopes_.find(s.name.text);
  const bool value = known != nullptr && known->is(Binding::Kind::value);
  if (known != nullptr && known->is(Binding::Kind::poisoned)) throw Poisoned{};
  if (value && module_.type(known->id).list > 0) return lists_.put(s);
  if (!value) {
    source_.fail(s.mark, fmt::format("'{}' has no elements to set", s.name.text),
                 known == nullptr ? "no statement before this place defines it" : "it is neither an array nor a list",
                 fmt::format("define it before: {} = fill(0.0, N)", s.name.text));
  }
  if (module_.type(known->id).sparse || formulas_.is_stored(known->id)) {
    const Term entries = module_.type(known->id).sparse ? values_.term(known->id) : formulas_.stored_term(known->id);
    formulas_.fail(entries, s.mark, fmt::format("elements of the sparse '{}' are set", s.name.text),
                   "its entries keep their places", "write an expression over all of its entries");
  }
  Scopes::Scope names;
  const Statement whole = elements_.whole(s, module_.type(known->id), names);
  for (auto& [name, binding] : names) scopes_.shadow(name, std::move(binding));
  assign(whole);
}

Term Statements::value_of(const Statement& s) {
  const std::string& name = s.name.text;
  const Node& node = s.value[0];
  if (s.type.empty()) return evaluator_.eval(node, name);
  const auto has_count = [](const ComponentNode& c) { return !c.count.empty(); };
  const std::vector<ComponentNode>& parts = s.type[0].components;
  // A count in the type takes the hint, as the first expression of the statement.
  const bool taken = std::any_of(parts.begin(), parts.end(), has_count);
  const ElementType element = types_.array(s.type[0]).element;
  return evaluator_.typed(node, element, taken ? "" : name);
}

// A name keeps its type for good; a literal takes it.
Term Statements::as_known(const Statement& s, Term term, const Type& type) const {
  const std::string& name = s.name.text;
  if (type.list > 0) {
    source_.fail(s.mark, fmt::format("'{}' is a list", name), {}, fmt::format("write {}[i] = ...", name));
  }
  if (term.literal && type.element.is_scalar()) {
    term = located(source_, s.value[0].mark, [&] { return adapt(std::move(term), type.element.scalar()); });
  }
  if (term.type() == type.element && term.dims == type.dims) return term;
  const Type now{term.type(), term.dims};
  const auto of = [](const ElementType& t) { return t.is_scalar() ? t.scalar() : Scalar::null; };
  std::string remedy = "convert the value, or choose another name";
  if (is_integer(of(type.element)) && is_float(of(now.element))) {  // its digits would go
    remedy = fmt::format("begin with a number of that type, as {} = {}, or choose another name", name,
                         type.dims.empty() ? "1.0" : "fill(0.0, N)");
  }
  if (term.dims.empty() && !type.dims.empty()) remedy = "write fill(value, N), or choose another name";
  source_.fail(s.mark, fmt::format("'{}' is {} and would become {}", name, show(module_, type), show(module_, now)),
               "a name keeps its type and its dimensions", remedy);
}

// The values of `Q, R = qr(X)`, or of a def that returns several.
std::vector<Term> Statements::several_values(const Statement& s, const std::vector<std::string>& hints) {
  const Node& node = s.value[0];
  const Statement* def = functions_.def(node.text);
  const SeveralCall* call = functions_.several_call(node);
  const size_t count = def != nullptr ? def->arguments.size() : call != nullptr ? call->results : 1;
  if (count == hints.size()) return def != nullptr ? definitions_.call(*def, node, hints) : call->lower(node, hints);
  if (def == nullptr && call == nullptr && functions_.fn(node.text) == nullptr && !functions_.contains(node.text)) {
    functions_.unknown(node.text, node.args.size(), node.mark);
  }
  const std::string why =
      count == 1 ? fmt::format("{}(...) gives one value", node.text) : fmt::format("{} gives {}", node.text, count);
  source_.fail(s.mark, fmt::format("{} names for the value of {}", hints.size(), node.text), why,
               "give each name its value in a statement of its own");
}

// `Q, R = qr(X)`
void Statements::assign_several(const Statement& s) {
  const Node& node = s.value[0];
  std::vector<std::string> hints;
  for (const NameAt& name : s.names) {
    const Binding* known = scopes_.find(name.text);
    if (known != nullptr && !known->fixed.empty()) {
      source_.fail(name.mark, fmt::format("'{}' cannot be assigned", name.text), known->fixed, "choose another name");
    }
    if (std::find(hints.begin(), hints.end(), name.text) != hints.end()) {
      source_.fail(name.mark, fmt::format("'{}' is named twice", name.text));
    }
    hints.push_back(name.text);
  }
  std::vector<Term> terms = several_values(s, hints);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const Binding* known = scopes_.find(hints[i]);
    if (known != nullptr && known->is(Binding::Kind::value)) {
      Statement one;
      one.mark = s.names[i].mark;
      one.name = s.names[i];
      one.value = s.value;
      terms[i] = as_known(one, std::move(terms[i]), module_.type(known->id));
    }
    const bool copy = terms[i].named;
    scopes_.rebind(hints[i], values_.materialise(std::move(terms[i]), hints[i], node.mark, copy));
  }
}

void Statements::assign(const Statement& s) {
  if (!s.names.empty()) return assign_several(s);
  const std::string& name = s.name.text;
  const Mark mark = s.value[0].mark;
  const Binding* known = scopes_.find(name);
  if (known != nullptr && !known->fixed.empty()) {
    source_.fail(s.mark, fmt::format("'{}' cannot be assigned", name), known->fixed, "choose another name");
  }
  Term term = value_of(s);
  const bool list = term.bare() && term.leaves[0] >= 0 && module_.type(term.leaves[0]).list > 0;
  if (list) term = evaluator_.require_element(std::move(term), s.value[0]);  // this refuses it
  if (!s.type.empty()) {
    term = values_.conform(std::move(term), types_.array(s.type[0]), mark, fmt::format("'{}'", name));
  }
  known = scopes_.find(name);
  const bool value = known != nullptr && known->is(Binding::Kind::value);
  if (value && formulas_.is_stored(known->id)) return store_entries(s, std::move(term));
  if (value) term = as_known(s, std::move(term), module_.type(known->id));
  if (define_formula(s, term)) return;
  const bool copy = term.named;
  scopes_.rebind(name, values_.materialise(std::move(term), name, mark, copy));
}

// A name of a formula is the formula, with the values that its names have at this position. If it is read again, its
// values are stored here. Those of a matrix by its name alone are there.
bool Statements::define_formula(const Statement& s, const Term& term) {
  if (!formulas_.is_entries(term)) return false;
  const Mark mark = s.value[0].mark;
  const std::string& name = s.name.text;
  const Binding* known = scopes_.find(name);
  if (known != nullptr && known->is(Binding::Kind::value)) {
    source_.fail(mark,
                 fmt::format("'{}' is {} and would become an expression over stored entries", name,
                             show(module_, module_.type(known->id))),
                 "a name keeps its type and its dimensions", "choose another name");
  }
  const auto at = static_cast<std::size_t>(&s - list_->data());
  if (formulas_.worth_storing(term, mark) && is_read_again(*list_, at, results_)) {
    scopes_.shadow(name, {.id = folds_.store(term, mark, name)});
    return true;
  }
  Binding formula{.kind = Binding::Kind::formula, .term = term};
  formula.term.named = false;
  scopes_.shadow(name, std::move(formula));
  return true;
}

// A name of stored values gets other ones, at the same entries.
void Statements::store_entries(const Statement& s, Term term) {
  const std::string& name = s.name.text;
  const Mark mark = s.value[0].mark;
  const ValueId known = scopes_.find(name)->id;
  const Term before = formulas_.stored_term(known);
  if (term.literal && before.type().is_scalar()) {
    term = located(source_, mark, [&] { return adapt(std::move(term), before.type().scalar()); });
  }
  const bool entries = formulas_.is_entries(term);
  if (entries && term.type().is(Scalar::null)) {
    term = folds_.entries_as(std::move(term), before.type().scalar(), mark);
  }
  if (entries) term = folds_.settled(std::move(term), mark);
  if (!entries || term.type() != before.type() ||
      formulas_.matrix_of(term, mark) != formulas_.matrix_of(before, mark)) {
    const Type was{before.type(), before.dims}, now{term.type(), term.dims};
    source_.fail(
        s.mark,
        fmt::format("'{}' is {} at stored entries and would become {}", name, show(module_, was), show(module_, now)),
        "a name keeps its type and the entries that it lies at", "choose another name");
  }
  scopes_.rebind(name, folds_.store(std::move(term), mark, name));
}

}  // namespace kasen::lang
