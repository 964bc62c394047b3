#include "libcore/lang/shapes/rename.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "libcore/ir/axis_ops.h"
#include "libcore/ir/derived_dims.h"

namespace kasen::lang {
namespace {

// The axes that change, and those whose dimension stands twice before or behind, with all between them.
AxisRange affected(const std::vector<DimId>& from, const std::vector<DimId>& to) {
  size_t first = from.size(), last = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    const bool twice = std::count(from.begin(), from.end(), from[i]) > 1 || std::count(to.begin(), to.end(), to[i]) > 1;
    if (from[i] == to[i] && !twice) continue;
    first = std::min(first, i);
    last = i;
  }
  return {first, last - first + 1};
}

bool same_indices(const Module& module, DimId a, DimId b) {
  return is_product_of(module, a, {b}) || is_product_of(module, b, {a});
}

// Whether no name stands twice on the way if one axis after another changes.
bool stays_plain(std::vector<DimId> dims, const std::vector<DimId>& to) {
  if (stands_twice(dims)) return false;
  for (size_t i = 0; i < dims.size(); ++i) {
    dims[i] = to[i];
    if (stands_twice(dims)) return false;
  }
  return true;
}

}  // namespace

Renaming::Renaming(const Part& part) : NamedAxes(part) {
  functions_.add({renaming_call}, Functions::Name::yields,
                 [this](auto& node, auto& hint) { return renamed(node, hint); });
}

Term Renaming::renamed(const Node& node, const std::string& hint) {
  Term term = evaluator_.operand(node.args.at(0));
  if (term.open) return all_pairs(std::move(term), node);
  values_.require_array(term, node.mark, "as");
  return as(std::move(term), named(node), node.mark, hint);
}

Term Renaming::as(Term array, const std::vector<DimId>& to, Mark mark, const std::string& hint) {
  if (formulas_.is_entries(array)) return of_entries(std::move(array), to, mark);
  const ValueId from = values_.materialise(std::move(array), "t", mark);
  const std::vector<DimId> dims = module_.type(from).dims;
  require_names(mark, dims, to);
  if (to == dims) return values_.term(from);
  return values_.term(stays_plain(dims, to) ? one_by_one(from, to, mark, hint) : through_product(from, to, mark, hint));
}

DimId Renaming::other_name(DimId dim) {
  const Dimension of = module_.dim(dim);
  for (const DimId d : module_.dims.ids()) {
    const Derivation& derived = module_.dim(d).derived;
    const bool whole = derived.kind == Derivation::Kind::slice && derived.sources == std::vector{dim} &&
                       !derived.begin && !derived.end && derived.step == 1;
    if (whole && module_.dim(d).local == of.local) return d;
  }
  Dimension made{of.name + "_again", of.local, of.size};
  made.derived.kind = Derivation::Kind::slice;
  made.derived.sources = {dim};
  made.derived.step = 1;
  for (int next = 2; module_.find_dim(made.name) != no_dim; ++next) made.name = fmt::format("{}_{}", of.name, next);
  return builder_.add_dim(std::move(made));
}

// Of a square sparse matrix: names tell its axes apart where it is reduced.
Term Renaming::of_entries(Term term, const std::vector<DimId>& to, Mark mark) {
  const std::vector<DimId> own = formulas_.own_dims(term, mark);
  require_names(mark, own, to);
  if (to == own) return term;
  if (own[0] != own[1] || to[0] == to[1] || !contains(to, own[0])) {
    source_.fail(mark, fmt::format("stored entries over {} as {}", show_dims(module_, own), show_dims(module_, to)),
                 "a square sparse matrix has one axis by its own name, and the other by another one",
                 own[0] == own[1] ? fmt::format("write as [{0}, Other] or as [Other, {0}]", module_.dim(own[0]).name)
                                  : "leave it out: the names of its dimensions are different");
  }
  return formulas_.renamed(std::move(term), to, mark);
}

std::vector<DimId> Renaming::named(const Node& node) const {
  std::vector<DimId> to;
  for (const NameAt& name : node.args.at(1).names) {
    for (const DimId d : types_.dims(name)) to.push_back(d);
  }
  return to;
}

// Of `(u + v) as [N, M]`, where no operand has both: in this order.
Term Renaming::all_pairs(Term term, const Node& node) const {
  std::vector<DimId> to = named(node);
  if (!std::is_permutation(to.begin(), to.end(), term.dims.begin(), term.dims.end())) {
    source_.fail(node.mark,
                 fmt::format("all pairs over {} as {}", show_dims(module_, term.dims), show_dims(module_, to)),
                 "each of their dimensions is named once, in the order that the array gets",
                 fmt::format("write as {}", show_dims(module_, term.dims)));
  }
  term.dims = std::move(to);
  term.open = false;
  return term;
}

void Renaming::require_names(Mark mark, const std::vector<DimId>& dims, const std::vector<DimId>& to) const {
  const std::string what = fmt::format("an array over {} as {}", show_dims(module_, dims), show_dims(module_, to));
  if (to.size() != dims.size()) {
    source_.fail(mark, what, "it keeps its axes, with other names",
                 fmt::format("name {} dimension{}", dims.size(), dims.size() == 1 ? "" : "s"));
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    const Dimension &old = module_.dim(dims[i]), &made = module_.dim(to[i]);
    if (same_indices(module_, dims[i], to[i]) && old.local == made.local) continue;
    source_.fail(mark, what, fmt::format("'{}' is not '{}' by another name", made.name, old.name),
                 fmt::format("declare it so: dim {}{} = {}[:]", made.name, old.local ? " local" : "", old.name));
  }
}

// A slice of all indices is a view; the way back is a reshape.
ValueId Renaming::one_by_one(ValueId array, const std::vector<DimId>& to, Mark mark, const std::string& hint) {
  for (size_t i = 0; i < to.size(); ++i) {
    std::vector<DimId> dims = module_.type(array).dims;
    if (dims[i] == to[i]) continue;
    if (is_part(module_, to[i], dims[i])) {
      array = sliced(array, to[i], dims[i], 0, mark, hint);
      continue;
    }
    const DimId old = std::exchange(dims[i], to[i]);
    array = reshaped(array, {old}, to[i], std::move(dims), mark, hint);
  }
  return array;
}

// Through one line of all elements along the axes that change: a line has no name twice.
ValueId Renaming::through_product(ValueId array, const std::vector<DimId>& to, Mark mark, const std::string& hint) {
  const std::vector<DimId> from = module_.type(array).dims;
  const AxisRange range = affected(from, to);
  const auto taken = [&](const std::vector<DimId>& dims) {
    const auto begin = dims.begin() + static_cast<std::ptrdiff_t>(range.first);
    return std::vector<DimId>(begin, begin + static_cast<std::ptrdiff_t>(range.count));
  };
  const DimId line = product_of(taken(from));
  std::vector<DimId> between(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(range.first));
  between.push_back(line);
  between.insert(between.end(), from.begin() + static_cast<std::ptrdiff_t>(range.first + range.count), from.end());
  array = reshaped(array, taken(from), line, std::move(between), mark, hint);
  return reshaped(array, taken(to), line, to, mark, hint);
}

ValueId Renaming::reshaped(ValueId array, std::vector<DimId> parts, DimId whole, std::vector<DimId> dims, Mark mark,
                           const std::string& hint) {
  Type type = module_.type(array);
  type.dims = std::move(dims);
  return builder_.emit({.code = OpCode::reshape, .operands = {array}, .over = std::move(parts), .dim = whole}, mark,
                       hint, type);
}

DimId Renaming::product_of(const std::vector<DimId>& dims) {
  for (const DimId d : module_.dims.ids()) {
    const Derivation& derived = module_.dim(d).derived;
    if (derived.kind == Derivation::Kind::product && derived.sources == dims) return d;
  }
  Dimension made{"", module_.dim(dims[0]).local, -1};
  made.derived.kind = Derivation::Kind::product;
  made.derived.sources = dims;
  made.size = derived_size(made.derived, [&](DimId d) { return module_.dim(d).size; });
  for (const DimId d : dims) made.name += (made.name.empty() ? "" : "_") + module_.dim(d).name;
  const std::string name = made.name;
  for (int next = 2; module_.find_dim(made.name) != no_dim; ++next) made.name = fmt::format("{}_{}", name, next);
  return builder_.add_dim(std::move(made));
}

}  // namespace kasen::lang
