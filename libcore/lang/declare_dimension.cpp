// Dimensions: with the size of the data, with one of their own, derived from others, and of the workers.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "libcore/ir/derived_dims.h"
#include "libcore/ir/observed.h"
#include "libcore/lang/declare.h"

namespace kasen::lang {
namespace {

// The operands of a product or a sum: of a * b * c, all three.
void add_operands(const Node& node, ScalarOp op, std::vector<const Node*>& operands) {
  if (node.kind != NodeKind::operation || node.op != op) return operands.push_back(&node);
  for (const Node& arg : node.args) add_operands(arg, op, operands);
}

std::optional<std::int64_t> whole_number(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

bool is_size(const Node& node) {
  return node.kind == NodeKind::call && node.text == "size" && node.args.size() == 1 &&
         node.args[0].kind == NodeKind::name;
}

}  // namespace

void Declarations::dimension(const Statement& s) {
  Dimension dim{s.name.text, s.local, -1};
  if (s.workers) dim.derived.kind = Derivation::Kind::workers;
  if (!s.value.empty()) dim.derived = derivation(s);
  if (dim.is_derived() && !dim.is_observed()) {
    const auto size_of = [&](DimId source) { return module_.dim(source).size; };
    try {
      dim.size = derived_size(dim.derived, size_of);
      require_whole(dim, size_of, [&](DimId source) { return module_.dim(source).name; });
    } catch (const UserError& error) {
      source_.fail(s.mark, error.diagnostics().front().what, error.diagnostics().front().why);
    }
  } else if (!s.value.empty() && !dim.is_observed()) {
    dim.size = evaluator_.count(s.value[0], 1, fmt::format("the size of '{}'", s.name.text));
  }
  if (scopes_.in_call()) return own(s, std::move(dim));
  take_given_size(s, dim);
  if (scopes_.find(dim.name) == nullptr && module_.find_dim(dim.name) != no_dim) {
    source_.fail(s.mark, fmt::format("'{}' is a dimension that a call above made", dim.name), {},
                 "choose another name, or declare it before");
  }
  const DimId id = builder_.add_dim(std::move(dim));
  Binding bound{.kind = Binding::Kind::dimension, .dim = id, .fixed = "it is a dimension"};
  bound.in_blocks = s.in_blocks;
  scopes_.define(s.name.text, s.mark, std::move(bound));
}

// `-D K=20` stands for `dim K = 20` where the program leaves the size to the data.
void Declarations::take_given_size(const Statement& s, Dimension& dim) {
  const auto given = defines_.find(s.name.text);
  if (given == defines_.end()) return;
  defined_.insert(s.name.text);
  const std::string what = fmt::format("-D {}={}", s.name.text, given->second);
  if (dim.is_derived()) {
    fail(ExitStatus::usage, fmt::format("{}: the size of dimension '{}' follows from others", what, s.name.text), {},
         "leave it out");
  }
  const std::optional<std::int64_t> size = whole_number(given->second);
  if (size.value_or(0) < 1) {
    fail(ExitStatus::usage, fmt::format("{}: '{}' is a dimension", what, s.name.text), {},
         "give its size, a number above 0");
  }
  if (dim.size >= 0 && dim.size != *size) {
    fail(ExitStatus::usage, fmt::format("{}: the program says that '{}' has {} indices", what, s.name.text, dim.size),
         {}, "write dim K = k with a const, and give -D k=... for another number");
  }
  dim.size = *size;
}

// Of a def: each call makes it anew. Its name in the plan begins with that of the def.
void Declarations::own(const Statement& s, Dimension dim) {
  if (!dim.is_derived() && dim.size < 0) {
    source_.fail(s.mark, fmt::format("'{}' is a dimension without a size", s.name.text),
                 "those of a def follow from its arguments, or have a size of their own",
                 fmt::format("write dim {0} = N[:], or dim {0} = 10", s.name.text));
  }
  std::string name = builder_.prefix() + dim.name;
  std::replace(name.begin(), name.end(), '.', '_');
  dim.name = name;
  for (int next = 2; module_.find_dim(dim.name) != no_dim; ++next) dim.name = fmt::format("{}_{}", name, next);
  const DimId id = builder_.add_dim(std::move(dim));
  scopes_.define_inside(s.name.text, s.mark,
                        {.kind = Binding::Kind::dimension, .dim = id, .fixed = "it is a dimension"});
}

// N, or size(N): in declarations of dimensions both say how many indices there are.
std::optional<DimId> Declarations::dimension_of(const Node& node) const {
  if (is_size(node)) return dimension_of(node.args[0]);
  const Binding* const bound = node.kind == NodeKind::name ? scopes_.find(node.text) : nullptr;
  if (bound == nullptr || !bound->is(Binding::Kind::dimension) || bound->dim == no_dim) return std::nullopt;
  return bound->dim;
}

// Of those that the operands name: a dimension whose size plan knows is a number in an expression.
bool Declarations::names_open_dimension(const Node& node) const {
  const std::optional<DimId> dim = dimension_of(node);
  if (dim) return module_.dim(*dim).size < 0;
  return node.kind == NodeKind::operation &&
         std::any_of(node.args.begin(), node.args.end(), [&](const Node& arg) { return names_open_dimension(arg); });
}

Derivation Declarations::derivation(const Statement& s) {
  if (!s.slice.empty()) return sliced(s);
  if (s.some) return some(s);
  if (is_size(s.value[0])) return {Derivation::Kind::slice, {source_of(s)}, {}, {}, 1};
  Derivation derived = joined(s);
  if (s.fills) return filling(s, std::move(derived));
  if (derived.kind != Derivation::Kind::none || !names_open_dimension(s.value[0])) return derived;
  const Node& value = s.value[0];
  source_.fail(value.mark, fmt::format("'{}' is not derived so", s.name.text),
               "dimensions are derived as a slice N[a:b], a product N * M * ..., a sum N + M + ..., or N / M",
               value.kind == NodeKind::name ? fmt::format("write {}[:] for all of its indices", value.text)
                                            : "declare each part as a dimension of its own: dim One = 1");
}

Derivation Declarations::filling(const Statement& s, Derivation derived) const {
  derived.step = -1;
  if (fills(derived)) return derived;
  source_.fail(s.value[0].mark, fmt::format("'{}' fills no quotient of dimensions", s.name.text),
               "it has as many indices as a dimension lacks for as many equal parts as another has indices",
               fmt::format("write dim {} fills N / M", s.name.text));
}

DimId Declarations::source_of(const Statement& s) const {
  const std::optional<DimId> source = dimension_of(s.value[0]);
  if (source) return *source;
  const Node& named = is_size(s.value[0]) ? s.value[0].args[0] : s.value[0];
  const bool itself = named.text == s.name.text;
  source_.fail(named.mark,
               itself ? fmt::format("dimension '{}' is derived from itself", s.name.text)
                      : fmt::format("'{}' is no dimension", named.text),
               itself ? "" : "a dimension is derived from others, which are declared above it",
               itself ? fmt::format("give it another name: dim K {0}{1}{2}", s.some ? "some " : "= ", s.name.text,
                                    s.some ? "" : "[a:b]")
                      : "");
}

Derivation Declarations::some(const Statement& s) const {
  const DimId source = source_of(s);
  if (s.local == module_.dim(source).local) return {Derivation::Kind::some, {source}, {}, {}, 1};
  source_.fail(s.mark,
               fmt::format("'{}' is {}, and '{}' is {}", s.name.text, s.local ? "local" : "not local",
                           module_.dim(source).name, s.local ? "not" : "local"),
               "elements that are picked stay on the workers of their array's dimension",
               fmt::format("write dim {}{} some {}", s.name.text, s.local ? "" : " local", module_.dim(source).name));
}

Derivation Declarations::sliced(const Statement& s) {
  Derivation derived;
  derived.sources = {source_of(s)};
  derived.kind = Derivation::Kind::slice;
  const auto bound = [&](size_t i, const char* what) -> std::optional<std::int64_t> {
    if (s.slice.size() <= i || !s.slice[i]) return std::nullopt;
    return evaluator_.count(*s.slice[i], std::numeric_limits<std::int64_t>::min(),
                            fmt::format("{} of the slice '{}'", what, s.name.text));
  };
  derived.begin = bound(0, "the first index");
  derived.end = bound(1, "the end");
  derived.step = bound(2, "the step").value_or(1);
  if (derived.step == 0) {
    source_.fail(s.slice[2]->mark, "a slice of step 0", "a step is positive, or negative to go backwards",
                 fmt::format("write {}[::-1] for all indices backwards", s.value[0].text));
  }
  return derived;
}

// None where an operand is something else than a dimension.
Derivation Declarations::joined(const Statement& s) const {
  constexpr size_t most_sources = 64;
  const Node& value = s.value[0];
  const bool divides = value.kind == NodeKind::operation && value.op == ScalarOp::div;
  if (value.kind != NodeKind::operation || (!divides && value.op != ScalarOp::mul && value.op != ScalarOp::add)) {
    return {};
  }
  std::vector<const Node*> operands;
  if (divides) {
    operands = {&value.args.at(0), &value.args.at(1)};
  } else {
    add_operands(value, value.op, operands);
  }
  Derivation derived;
  derived.kind = divides                     ? Derivation::Kind::quotient
                 : value.op == ScalarOp::mul ? Derivation::Kind::product
                                             : Derivation::Kind::sum;
  for (const Node* const operand : operands) {
    const std::optional<DimId> source = dimension_of(*operand);
    if (!source) return {};
    derived.sources.push_back(*source);
    if (!divides || !follows_observed(module_.dims, *source)) continue;
    source_.fail(value.mark, fmt::format("a quotient of '{}', whose size the run finds", module_.dim(*source).name),
                 "a quotient is of equal parts, and the size may be any");
  }
  if (derived.sources.size() <= most_sources) return derived;
  source_.fail(value.mark, fmt::format("a dimension of {} others", derived.sources.size()),
               fmt::format("at most {} are possible", most_sources));
}

}  // namespace kasen::lang
