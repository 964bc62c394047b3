#include "libcore/lang/definition.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "libcore/lang/control.h"
#include "libcore/lang/terms/id_places.h"

namespace kasen::lang {
namespace {

constexpr int max_calls = 20'000;

std::string called(const Statement& def) { return fmt::format("def '{}'", def.name.text); }

// As a call is written: f(x, r, over d)
std::string form(const Statement& def) {
  std::string text;
  for (const ParamNode& param : def.params) text += (text.empty() ? "" : ", ") + param.name;
  for (const NameAt& name : def.names) {
    text += (text.empty() ? "" : ", ") + std::string(&name == def.names.data() ? "over " : "") + name.text;
  }
  return fmt::format("{}({})", def.name.text, text);
}

}  // namespace

void Definitions::require_place(const Statement& def, const Node& node) const {
  if (!frames_.empty()) {
    source_.fail(node.mark, fmt::format("{} inside a function of elements", called(def)),
                 "a def works on whole arrays, which are not visible there",
                 "compute it before and pass it as an argument, or write a def in place of the fn");
  }
  if (indexed_.is_open()) {
    source_.fail(node.mark, fmt::format("{} inside index notation", called(def)),
                 "there are elements alone, and a def works on whole arrays", "compute it before, and give it a name");
  }
}

void Definitions::require_count(const Statement& def, const Node& node, size_t count) const {
  const auto needed = static_cast<size_t>(
      std::count_if(def.params.begin(), def.params.end(), [](const ParamNode& p) { return p.usual.empty(); }));
  const size_t most = def.params.size();
  if (count >= needed && count <= most) return;
  source_.fail(node.mark,
               fmt::format("{} takes {}{} argument{}, not {}", called(def),
                           needed < most ? fmt::format("{} to ", needed) : "", most, most == 1 ? "" : "s", count),
               {}, fmt::format("write {}", form(def)));
}

// `zeros(N)` for `zeros(over N)`, as `fill(0, N)` has them: what follows the arguments are dimensions.
bool Definitions::names_dimensions(const Statement& def, const Node& node) const {
  if (def.names.empty() || node.args.size() <= def.params.size()) return false;
  return std::all_of(node.args.begin() + std::ssize(def.params), node.args.end(),
                     [&](const Node& arg) { return is_dimension(arg); });
}

bool Definitions::is_dimension(const Node& arg) const {
  const Binding* const b = arg.kind == NodeKind::name ? scopes_.find(arg.text) : nullptr;
  return b != nullptr && b->is(Binding::Kind::dimension);
}

// `std(X, F)` would take F's size for its second parameter, and whoever writes it means `over F`.
void Definitions::refuse_sizes(const Statement& def, const Node& node) const {
  if (def.names.empty()) return;
  for (const Node& arg : node.args) {
    if (!is_dimension(arg)) continue;
    const std::string& param = def.params[static_cast<size_t>(&arg - node.args.data())].name;
    source_.fail(arg.mark, fmt::format("dimension '{}' is given to parameter '{}' of {}", arg.text, param, called(def)),
                 {}, fmt::format("write over {0} to work along it, or size({0}) for its size", arg.text));
  }
}

// In the caller's scope.
Definitions::Arguments Definitions::arguments(const Statement& def, const Node& node) {
  Arguments given;
  size_t count = node.args.size();
  if (count > 0 && node.args.back().kind == NodeKind::over) given.over = &node.args[--count];
  if (given.over == nullptr && names_dimensions(def, node)) {
    count = def.params.size();
    Node over;
    over.kind = NodeKind::over;
    over.mark = node.args[count].mark;
    for (size_t i = count; i < node.args.size(); ++i) over.names.push_back({node.args[i].text, node.args[i].mark});
    given.written.push_back(std::move(over));
    given.over = given.written.data();
  }
  require_count(def, node, count);
  if (given.over == nullptr) refuse_sizes(def, node);
  for (size_t i = 0; i < count; ++i) given.terms.push_back(evaluator_.any(node.args[i]));
  if (given.over == nullptr) return given;
  types_.refuse_keys(*given.over);
  if (def.names.empty()) {
    source_.fail(given.over->mark, fmt::format("{} takes no dimensions", called(def)), "its head has no 'over'",
                 fmt::format("write {}", form(def)));
  }
  for (const NameAt& name : given.over->names) {
    for (const DimId d : types_.dims(name)) {
      if (contains(given.dims, d)) {
        source_.fail(name.mark, fmt::format("dimension '{}' is named twice", module_.dim(d).name));
      }
      given.dims.push_back(d);
    }
  }
  return given;
}

// One name takes all dimensions that the call names; without any, those of the first argument, as sum(x) does. Several
// take one each.
void Definitions::bind_over(const Statement& def, const Node& node, const Arguments& given) {
  if (def.names.empty()) return;
  std::vector<DimId> dims = given.dims;
  if (def.names.size() == 1) {
    if (given.over == nullptr && !given.terms.empty()) dims = given.terms[0].dims;
    if (given.over == nullptr && given.terms.empty()) {
      source_.fail(node.mark, fmt::format("{} without a dimension", called(def)), {},
                   fmt::format("write {}", form(def)));
    }
    Binding names{.kind = Binding::Kind::dimension, .fixed = "it stands for dimensions"};
    if (dims.size() == 1) names.dim = dims[0];
    names.dims = std::move(dims);
    return scopes_.shadow(def.names[0].text, std::move(names));
  }
  if (dims.size() != def.names.size()) {
    source_.fail(given.over != nullptr ? given.over->mark : node.mark,
                 fmt::format("{} takes {} dimensions, not {}", called(def), def.names.size(), dims.size()), {},
                 fmt::format("write {}", form(def)));
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    scopes_.shadow(def.names[i].text, {.kind = Binding::Kind::dimension, .dim = dims[i], .fixed = "it is a dimension"});
  }
}

// `x : [N, M]`, `x : f64[N]`: the names stand for the dimensions of the argument, the same one for the same name.
void Definitions::bind_dims(const Statement& def, const ParamNode& param, const Term& term, Mark mark, Bound& bound) {
  if (param.type.empty()) return;
  const std::vector<NameAt>& names = param.type[0].dims;
  if (names.size() != term.dims.size()) {
    source_.fail(mark,
                 names.empty() ? fmt::format("parameter '{}' of {} is a single value", param.name, called(def))
                               : fmt::format("parameter '{}' of {} has {} dimension{}", param.name, called(def),
                                             names.size(), names.size() == 1 ? "" : "s"),
                 term.dims.empty() ? "this is a single value"
                                   : fmt::format("this is an array over {}", show_dims(module_, term.dims)));
  }
  for (size_t i = 0; i < names.size(); ++i) {
    const DimId dim = term.dims[i];
    const auto [known, is_new] = bound.emplace(names[i].text, dim);
    if (known->second != dim) {
      source_.fail(mark,
                   fmt::format("'{}' of {} would stand for both {} and {}", names[i].text, called(def),
                               module_.dim(known->second).name, module_.dim(dim).name),
                   "a name in the head of a def is one dimension", "call it with arrays whose dimensions meet");
    }
    if (!is_new) continue;
    scopes_.shadow(names[i].text, {.kind = Binding::Kind::dimension, .dim = dim, .fixed = "it is a dimension"});
  }
}

Term Definitions::typed(const Statement& def, const ParamNode& param, Term term, Mark mark) {
  if (param.type.empty() || param.type[0].components.empty()) return term;
  const ElementType wanted = types_.element(param.type[0]);
  if (wanted.is_scalar()) term = located(source_, mark, [&] { return adapt(std::move(term), wanted.scalar()); });
  if (term.type() != wanted) {
    source_.fail(mark,
                 fmt::format("parameter '{}' of {} is {}, not {}", param.name, called(def), show(module_, wanted),
                             show(module_, term.type())),
                 "nothing is converted silently", conversion_to(module_, wanted, term.type()));
  }
  term.literal = false;
  return term;
}

// The parameter is a name of the argument's value, as if the program had assigned it; no copy is made. What plan knows
// stays known, so that it may be the bound of an unrolled loop.
void Definitions::bind(const Statement& def, const ParamNode& param, Term term, Mark mark) {
  term = typed(def, param, std::move(term), mark);
  term.named = false;
  if (formulas_.is_formula(term)) {
    return scopes_.shadow(param.name, {.kind = Binding::Kind::formula, .term = std::move(term)});
  }
  const Names changed = assigned_names(def.body);
  const bool assigned = std::find(changed.begin(), changed.end(), param.name) != changed.end();
  if (term.known() && !assigned) {
    return scopes_.shadow(param.name, {.kind = Binding::Kind::constant, .term = std::move(term)});
  }
  const ValueId id =
      formulas_.is_sparse(term) ? term.leaves[0] : values_.materialise(std::move(term), param.name, mark);
  scopes_.shadow(param.name, {.id = id, .fixed = module_.type(id).sparse ? "it is a matrix of the bundle" : ""});
}

// A value that the call made is handed over as it is; assigning one that was there before makes a copy, as of any name.
std::vector<Term> Definitions::results(const Statement& def, const std::vector<std::string>& hints,
                                       const Caller& caller, const CallNote& note) {
  const ValueId first(static_cast<int>(caller.values));
  std::vector<Term> terms;
  const auto values = [&] {
    for (size_t i = 0; i < def.arguments.size(); ++i) {
      const Until prefix = builder_.named(hints[i].empty() ? builder_.prefix() : caller.prefix);
      Term term = evaluator_.eval(def.arguments[i], hints[i]);
      if (term.bare() && term.leaves[0] >= first) term.named = false;
      terms.push_back(std::move(term));
    }
  };
  if (!lower_body_(def, note, values)) throw Poisoned{};
  return terms;
}

std::vector<Term> Definitions::call(const Statement& def, const Node& node, const std::vector<std::string>& hints) {
  require_place(def, node);
  if (++calls_ > max_calls) {
    source_.fail(node.mark, fmt::format("more than {} calls of functions", max_calls),
                 "each call is lowered anew, those in functions and unrolled loops in full",
                 "use a loop without 'unroll', or give a result a name and use it twice");
  }
  Arguments given = arguments(def, node);
  const CallNote note(source_, def.mark, node.mark, called(def));
  const Caller caller{builder_.prefix(), module_.values.size()};
  const Until call = builder_.called_at(node.mark);
  const Until prefix = builder_.named(def.name.text + '.');
  const Until file = functions_.inside(def);
  const Scopes::Call scope(scopes_,
                           functions_.in_used_file() ? Scopes::Call::Of::used_file : Scopes::Call::Of::program);
  const AxesApart::Own own = axes_.tell_apart(def, given.terms, node.mark);
  Bound bound;
  bind_over(def, node, given);
  for (size_t i = 0; i < given.terms.size(); ++i)
    bind_dims(def, def.params[i], given.terms[i], node.args[i].mark, bound);
  for (size_t i = 0; i < def.params.size(); ++i) {
    const ParamNode& param = def.params[i];
    const bool has = i < given.terms.size();
    bind(def, param, has ? std::move(given.terms[i]) : evaluator_.eval(param.usual[0]),
         has ? node.args[i].mark : param.mark);
  }
  std::vector<Term> made = results(def, hints, caller, note);
  for (size_t i = 0; i < made.size(); ++i) made[i] = axes_.put_back(own, std::move(made[i]), node.mark, hints[i]);
  return made;
}

Term Definitions::one(const Statement& def, const Node& node, const std::string& hint) {
  if (def.arguments.size() == 1) return std::move(call(def, node, {hint})[0]);
  source_.fail(node.mark, fmt::format("{} gives {} values", called(def), def.arguments.size()), "each gets a name",
               fmt::format("write a, b = {} as a statement", form(def)));
}

}  // namespace kasen::lang
