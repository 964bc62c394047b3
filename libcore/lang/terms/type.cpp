#include "libcore/lang/terms/type.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "libcore/syntax/habits.h"

namespace kasen::lang {
namespace {

constexpr std::int64_t max_coordinates = 1 << 16;

}  // namespace

DimId Types::dim(const NameAt& name) const {
  const std::vector<DimId> found = dims(name);
  if (found.size() == 1) return found[0];
  source_.fail(
      name.mark, fmt::format("'{}' stands for {} dimensions", name.text, found.size()),
      found.empty() ? "the function got a single value" : fmt::format("the call names {}", show_dims(module_, found)),
      "one is meant here: call the function with one, over N");
}

std::vector<DimId> Types::dims(const NameAt& name) const {
  const Binding* b = scopes_.find(name.text);
  if (b != nullptr && b->is(Binding::Kind::poisoned)) throw Poisoned{};
  if (b != nullptr && b->is(Binding::Kind::dimension)) return b->dim == no_dim ? b->dims : std::vector{b->dim};
  Names dims;
  for (const Dimension& d : module_.dims) dims.push_back(d.name);
  const std::string near = did_you_mean(name.text, dims);
  const bool in_def = scopes_.in_call() && near.empty();
  const std::string axis = axis_remedy(name.text);
  if (b != nullptr && b->is(Binding::Kind::value) && axis.empty() && !module_.type(b->id).dims.empty()) {
    source_.fail(name.mark, fmt::format("'{}' is no dimension", name.text),
                 fmt::format("it is an array over {}", show_dims(module_, module_.type(b->id).dims)),
                 fmt::format("name a dimension, as {}", module_.dim(module_.type(b->id).dims[0]).name));
  }
  source_.fail(name.mark, fmt::format("'{}' is no dimension", name.text),
               b != nullptr ? "the name stands for a value" : "dimensions are declared first",
               !axis.empty()  ? axis
               : in_def       ? fmt::format("name the argument's dimensions in the head: def f(x : [{}])", name.text)
               : near.empty() ? fmt::format("declare it: dim {}", name.text)
                              : near);
}

DimId Types::dim(const Node& node) const {
  if (node.kind != NodeKind::name) source_.fail(node.mark, "the name of a dimension is meant here");
  return dim({node.text, node.mark});
}

std::vector<DimId> Types::dims(const Node& node) const {
  if (node.kind != NodeKind::name) source_.fail(node.mark, "the name of a dimension is meant here");
  return dims(NameAt{node.text, node.mark});
}

ElementType Types::element(const TypeNode& node) {
  ElementType type;
  type.tuple = node.tuple;
  type.components.clear();
  for (const ComponentNode& c : node.components) {
    Component made{scalar_named(c.scalar), no_dim, 0};
    if (made.scalar == Scalar::id) made.id_of = dim({c.id_of, c.mark});
    if (!c.count.empty()) {
      made.count = evaluator_.count(c.count[0], 1, "the number of coordinates");
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

Type Types::array(const TypeNode& node) {
  Type type{element(node), {}};
  for (const NameAt& name : node.dims) type.dims.push_back(dim(name));
  return type;
}

void Types::refuse_keys(const Node& over) const {
  if (over.args.empty()) return;
  source_.fail(over.args[0].mark, "keys of something that is no reduction", "'by' stands in reductions alone",
               "write sum(x, by k in K), or max, min, prod, any, all, mean, sumsq, reduce(f, x, by k in K)");
}

std::vector<DimId> Types::named(const std::vector<DimId>& whole, const Node* over, Mark mark) const {
  if (over == nullptr) return {};
  refuse_keys(*over);
  std::vector<DimId> rest = whole;
  std::vector<DimId> dims;
  for (const NameAt& name : over->names) {
    for (const DimId d : this->dims(name)) {
      const auto it = std::find(rest.begin(), rest.end(), d);
      if (it == rest.end()) {
        source_.fail(name.mark, fmt::format("the array has no dimension '{}'", module_.dim(d).name),
                     fmt::format("it is over {}", show_dims(module_, whole)));
      }
      rest.erase(it);
      dims.push_back(d);
    }
  }
  if (dims.empty()) source_.fail(mark, "a reduction along no dimension", "the function got a single value");
  if (rest.empty()) return {};
  const auto again = [&](DimId d) { return std::count(whole.begin(), whole.end(), d) > 1; };
  const auto twice = std::find_if(whole.begin(), whole.end(), again);
  if (twice != whole.end()) {
    source_.fail(mark, fmt::format("a reduction of an array over {} along some of them", show_dims(module_, whole)),
                 "a dimension is listed twice, and the name does not say which is meant",
                 fmt::format("give one of them another name: dim Other{1} = {0}[:], and sum(A as [{0}, Other], over "
                             "Other) for the sums of rows",
                             module_.dim(*twice).name, module_.dim(*twice).local ? " local" : ""));
  }
  return dims;
}

}  // namespace kasen::lang
