#include "libcore/lang/shapes/rearrange.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "libcore/ir/axis_ops.h"
#include "libcore/ir/derived_dims.h"
#include "libcore/lang/calls/axis.h"

namespace kasen::lang {
Rearrangements::Rearrangements(const Part& part) : NamedAxes(part) {
  using Name = Functions::Name;
  functions_.add({"slice"}, Name::yields, [this](auto& node, auto& hint) { return slice(node, hint); });
  functions_.add({"leading"}, Name::yields, [this](auto& node, auto& hint) { return leading(node, hint); });
  functions_.add({"concat"}, Name::yields, [this](auto& node, auto& hint) { return concat(node, hint); });
  functions_.add({"reshape"}, Name::yields, [this](auto& node, auto& hint) { return reshape(node, hint); });
}

std::vector<DimId> Rearrangements::named(const Node& argument) const {
  if (argument.kind != NodeKind::small_array && argument.kind != NodeKind::over) return types_.dims(argument);
  std::vector<DimId> dims;
  const auto add = [&](const auto& name) {
    for (const DimId d : types_.dims(name)) dims.push_back(d);
  };
  for (const Node& name : argument.args) add(name);
  for (const NameAt& name : argument.names) add(name);
  return dims;
}

std::vector<DimId> Rearrangements::named(const Node& call, size_t first) const {
  std::vector<DimId> dims;
  for (size_t i = first; i < call.args.size(); ++i) {
    for (const DimId d : named(call.args[i])) dims.push_back(d);
  }
  return dims;
}

void Rearrangements::not_derived(const Node& call, DimId dim, const char* what, const std::string& form) const {
  const Dimension& given = module_.dim(dim);
  source_.fail(
      call.mark, fmt::format("{} to dimension '{}', which is no {}", call.text, given.name, what),
      given.is_derived() ? fmt::format("it is {}", derivation_text(module_, dim)) : "it is derived from no other",
      fmt::format("declare one: dim {}", form));
}

void Rearrangements::not_over(const Node& call, ValueId array, const std::vector<DimId>& wanted, DimId dim) const {
  std::string product;
  for (const DimId part : wanted) product += (product.empty() ? "" : " * ") + module_.dim(part).name;
  source_.fail(call.mark,
               fmt::format("{} of an array over {}", call.text, show_dims(module_, module_.type(array).dims)),
               fmt::format("{} is {}, so the array is over {}{}", module_.dim(dim).name,
                           wanted.size() > 1 ? product : derivation_text(module_, dim), show_dims(module_, wanted),
                           wanted.size() > 1 ? ", as neighbours in this order" : ""));
}

Term Rearrangements::emit(Op op, const std::vector<DimId>& dims, const Node& call, const std::string& hint) {
  if (op.code != OpCode::reshape && stands_twice(dims)) {
    source_.fail(call.mark, fmt::format("a result over {}", show_dims(module_, dims)), "a dimension stands twice");
  }
  Type type = module_.type(op.operands.at(0));
  type.dims = dims;
  return values_.term(builder_.emit(std::move(op), call.mark, hint, type));
}

Term Rearrangements::slice(const Node& node, const std::string& hint) {
  if (node.args.size() < 2) {
    source_.fail(node.mark, fmt::format("slice of {} argument{}", node.args.size(), node.args.size() == 1 ? "" : "s"),
                 "it takes an array and a slice of its dimension", "write slice(A, K) with dim K = N[5:8]");
  }
  ValueId from = array(node.args[0], node);
  for (size_t i = 1; i < node.args.size(); ++i) {
    const Node& argument = node.args[i];
    if (argument.kind != NodeKind::small_array) {
      from = displaced(from, argument, node, hint);
      continue;
    }
    for (const Node& part : argument.args) from = displaced(from, part, node, hint);
  }
  return values_.term(from);
}

// leading(A, K, over N): A's first elements along N, as many as K has, which is a slice of N or a dimension of its own.
Term Rearrangements::leading(const Node& node, const std::string& hint) {
  constexpr const char* form = "write leading(A, K, over N), with dim K local = N[:10], or dim K local = 10";
  const Node* const over = over_argument(node, 2);
  if (node.args.size() != 2 && over == nullptr)
    source_.fail(node.mark, fmt::format("leading of {} arguments", node.args.size()),
                 "it takes an array and a dimension", form);
  const ValueId from = array(node.args[0], node);
  const DimId dim = types_.dim(node.args[1]);
  Type type = module_.type(from);
  std::vector<DimId> of = types_.named(type.dims, over, node.mark);
  if (of.empty()) of = type.dims;
  if (of.size() != 1) source_.fail(node.mark, "leading elements along several dimensions", "it is along one", form);
  const Dimension &own = module_.dim(dim), &whole = module_.dim(of[0]);
  const bool apart = !own.is_derived() && own.local && own.size >= 0 && !contains(type.dims, dim);
  const bool slice = own.derived.kind == Derivation::Kind::slice && contains(own.derived.sources, of[0]);
  const bool summand =
      !slice && is_part(module_, dim, of[0]);  // a slice to it would be its own elements, not the first
  if (slice || (!apart && !summand)) return values_.term(to_slice(from, dim, 0, node.args[1], node, hint));
  if (!apart)
    source_.fail(node.mark, fmt::format("the first elements of {}, as many as {} has", whole.name, own.name),
                 fmt::format("{} is a part of {}, and its size is not known here", own.name, whole.name), form);
  if (whole.size >= 0 && whole.size < own.size)
    source_.fail(node.mark, fmt::format("the first {} elements of {}, which has {}", own.size, whole.name, whole.size),
                 fmt::format("dimension '{}' has {} indices", own.name, own.size));
  Term index = convert_term(module_, Scalar::i64, values_.term(values_.index(dim, node.mark, "first")));
  const ValueId places = values_.materialise(std::move(index), "first", node.mark);
  type.dims = taken_dims(type.dims, of[0], {dim});
  return values_.term(builder_.emit({.code = OpCode::take, .operands = {from, places}, .over = {of[0]}}, node.mark,
                                    hint, std::move(type)));
}

// To a dimension, or to one and a number of places from it: K - 1.
ValueId Rearrangements::displaced(ValueId from, const Node& argument, const Node& call, const std::string& hint) {
  const bool plus = argument.kind == NodeKind::operation && argument.op == ScalarOp::add;
  const bool minus = argument.kind == NodeKind::operation && argument.op == ScalarOp::sub && argument.args.size() == 2;
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const std::int64_t by = plus || minus ? evaluator_.count(argument.args[1], -most, "a displacement") : 0;
  for (const DimId dim : named(plus || minus ? argument.args[0] : argument)) {
    from = to_slice(from, dim, minus ? -by : by, argument, call, hint);
  }
  return from;
}

ValueId Rearrangements::to_slice(ValueId from, DimId dim, std::int64_t by, const Node& argument, const Node& call,
                                 const std::string& hint) {
  const std::vector<DimId>& dims = module_.type(from).dims;
  const auto whole = std::find_if(dims.begin(), dims.end(), [&](DimId d) { return is_part(module_, dim, d); });
  if (whole != dims.end()) return sliced(from, dim, *whole, by, argument.mark, hint);
  const Derivation& derived = module_.dim(dim).derived;
  if (derived.kind == Derivation::Kind::slice) not_over(call, from, derived.sources, dim);
  const Dimension& own = module_.dim(dim);
  const std::string& of = contains(dims, dim) ? own.name : module_.dim(dims.at(0)).name;
  const bool sized = !own.is_derived() && own.size >= 0 && !contains(dims, dim);
  not_derived(call, dim, "slice of a dimension",
              sized ? fmt::format("{}{} = {}[:{}], which are its first {} indices", own.name, own.local ? " local" : "",
                                  of, own.size, own.size)
                    : fmt::format("K = {}[5:8]", of));
}

Term Rearrangements::concat(const Node& node, const std::string& hint) {
  constexpr const char* form = "write concat(A, B, S) with dim S = N + M";
  if (node.args.size() < 3) {
    source_.fail(node.mark, fmt::format("concat of {} argument{}", node.args.size(), node.args.size() == 1 ? "" : "s"),
                 "it takes arrays and the sum of their dimensions", form);
  }
  const std::vector<DimId> dims = named(node, node.args.size() - 1);
  if (dims.size() != 1) source_.fail(node.mark, "concat along several dimensions", "it is along one", form);
  const DimId dim = dims[0];
  const Derivation derived = module_.dim(dim).derived;
  if (derived.kind != Derivation::Kind::sum) not_derived(node, dim, "sum of dimensions", "S = N + M");
  if (derived.sources.size() != node.args.size() - 1) {
    source_.fail(node.mark, fmt::format("concat of {} arrays", node.args.size() - 1),
                 fmt::format("{} is {}, with an array for each", module_.dim(dim).name, derivation_text(module_, dim)));
  }
  Op op{.code = OpCode::concat, .over = derived.sources, .dim = dim};
  std::vector<DimId> made;
  for (size_t i = 0; i < derived.sources.size(); ++i) {
    const Node& argument = node.args[i];
    const ValueId part = array(argument, node);
    const auto wanted = with_replaced(module_.type(part).dims, {derived.sources[i]}, {dim});
    if (!wanted) not_over(node, part, {derived.sources[i]}, dim);
    if (i == 0) made = *wanted;
    const ElementType &first = module_.type(i == 0 ? part : op.operands[0]).element, &own = module_.type(part).element;
    if (own != first) {
      source_.fail(argument.mark, fmt::format("concat of {} and {}", show(module_, first), show(module_, own)),
                   "nothing is converted silently",
                   own.is_scalar() && first.is_scalar() ? "convert one of the arrays" : "");
    }
    if (*wanted != made) {
      source_.fail(
          argument.mark,
          fmt::format("concat to arrays over {} and over {}", show_dims(module_, made), show_dims(module_, *wanted)),
          "the other dimensions are the same, in the same order");
    }
    op.operands.push_back(part);
  }
  return emit(std::move(op), made, node, hint);
}

DimId Rearrangements::product_of(const std::vector<DimId>& dims, const std::vector<DimId>& among) const {
  const auto found = std::find_if(among.begin(), among.end(), [&](DimId d) { return is_product_of(module_, d, dims); });
  return found == among.end() ? no_dim : *found;
}

// Of a dimension that is a product: its own, or two neighbours of the array, of which one is a quotient of it.
std::vector<DimId> Rearrangements::parts_of(DimId product, const std::vector<DimId>& dims) const {
  for (size_t i = 0; i + 1 < dims.size(); ++i) {
    const std::vector<DimId> two{dims[i], dims[i + 1]};
    if (is_product_of(module_, product, two)) return two;
  }
  const Derivation& derived = module_.dim(product).derived;
  if (derived.kind == Derivation::Kind::product) return derived.sources;
  for (const DimId part : module_.dims.ids()) {
    const Derivation& own = module_.dim(part).derived;
    if (is_quotient(own) && own.sources[0] == product) return {own.sources[1], part};
  }
  return {};
}

Term Rearrangements::reshape(const Node& node, const std::string& hint) {
  if (node.args.size() < 2) {
    source_.fail(node.mark, fmt::format("reshape of {} argument{}", node.args.size(), node.args.size() == 1 ? "" : "s"),
                 "it takes an array and the dimensions that it gets",
                 "write reshape(A, NM) with dim NM = N * M, or reshape(v, [N, M])");
  }
  const ValueId from = array(node.args[0], node, true);
  const std::vector<DimId> dims = module_.type(from).dims, to = named(node, 1);
  if (to == dims) return values_.term(from);
  if (to.size() == 1) {
    const std::vector<DimId> parts = parts_of(to[0], dims);
    if (parts.empty()) not_derived(node, to[0], "product of dimensions", "NM = N * M");
    const auto made = with_replaced(dims, parts, to);
    if (!made || contains(dims, to[0])) not_over(node, from, parts, to[0]);
    return emit({.code = OpCode::reshape, .operands = {from}, .over = parts, .dim = to[0]}, *made, node, hint);
  }
  const DimId product = product_of(to, dims);
  if (product == no_dim) {
    source_.fail(node.mark,
                 fmt::format("reshape of an array over {} to {}", show_dims(module_, dims), show_dims(module_, to)),
                 "none of its dimensions is the product of these, in this order",
                 "name the dimensions alone that one is made of: dim NM = N * M, and reshape(v, [N, M]) of v over NM");
  }
  const auto made = with_replaced(dims, {product}, to);
  if (!made) not_over(node, from, {product}, product);
  return emit({.code = OpCode::reshape, .operands = {from}, .over = to, .dim = product}, *made, node, hint);
}

}  // namespace kasen::lang
