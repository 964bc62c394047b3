#include "libcore/lang/calls/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "libcore/ir/axis_ops.h"
#include "libcore/lang/terms/id_places.h"

namespace kasen::lang {
bool stands_twice(std::vector<DimId> dims) {
  std::sort(dims.begin(), dims.end());
  return std::adjacent_find(dims.begin(), dims.end()) != dims.end();
}

namespace {

// What to write where a dimension stands twice.
std::string another_name(const Module& module, std::vector<DimId> dims) {
  std::sort(dims.begin(), dims.end());
  const Dimension& twice = module.dim(*std::adjacent_find(dims.begin(), dims.end()));
  return fmt::format("give one of them another name: dim Other{} = {}[:], and A as [{}, Other]",
                     twice.local ? " local" : "", twice.name, twice.name);
}

// The text behind the colon of `[k in PC: 11 - i64(k)]`, which begins in this column of the line, with the index of the
// dimension in place of the variable: 11 - i64(index(PC)). Empty where it does not end in the line.
std::string with_index(const std::string& line, int column, const std::string& variable, const std::string& dim) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  size_t at = line.find(':', static_cast<size_t>(std::max(column - 1, 0)));
  std::string made;
  int depth = 0;
  for (at = at == std::string::npos ? line.size() : at + 1; at < line.size();) {
    const char c = line[at];
    if (c == ']' && depth == 0) return made.substr(std::min(made.find_first_not_of(' '), made.size()));
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    size_t end = at + 1;
    while (is_word(c) && end < line.size() && is_word(line[end])) ++end;
    const std::string word = line.substr(at, end - at);
    const bool converted = made.ends_with("i64(") && end < line.size() && line[end] == ')';
    made += word != variable ? word : fmt::format(fmt::runtime(converted ? "index({})" : "i64(index({}))"), dim);
    at = end;
  }
  return "";
}

}  // namespace

AlongAxis::AlongAxis(const Part& part, Reducers& reducers) : NamedAxes(part), reducers_(reducers) {
  using Name = Functions::Name;
  functions_.add({"scan"}, Name::yields, [this](auto& node, auto& hint) { return scan_call(node, hint); });
  functions_.add({"cumsum", "cumprod", "cummax", "cummin"}, Name::yields,
                 [this](auto& node, auto& hint) { return cumulated(node, hint); });
  functions_.add({"sort", "argsort"}, Name::yields, [this](auto& node, auto& hint) { return sort(node, hint); });
  functions_.add({"take"}, Name::yields, [this](auto& node, auto& hint) { return take(node, hint); });
  functions_.add({"pick"}, Name::yields, [this](auto& node, auto& hint) { return pick(node, hint); });
}

ValueId NamedAxes::array(const Node& node, const Node& call, bool may_repeat) {
  Term term = evaluator_.element(node);
  if (term.dims.empty() && term.type().is_array()) refuse_point(term.type(), node, call);
  values_.require_array(term, node.mark, call.text);
  const ValueId made = values_.materialise(std::move(term), "t", node.mark);
  const std::vector<DimId>& dims = module_.type(made).dims;
  if (may_repeat || !stands_twice(dims)) return made;
  source_.fail(node.mark, fmt::format("{} of an array over {}", call.text, show_dims(module_, dims)),
               "arrays meet by the names of dimensions, and one stands twice", another_name(module_, dims));
}

// `[k in PC: 11 - i64(k)]` with a PC of a known size is one value of so many coordinates, and not an array over PC.
void NamedAxes::refuse_point(const ElementType& type, const Node& node, const Node& call) const {
  const std::int64_t count = type.components[0].count;
  const std::string what = fmt::format("{} of {}, one value of {} coordinates", call.text, show(module_, type), count);
  const Binding* const named =
      node.kind == NodeKind::loop && node.args[0].kind == NodeKind::name ? scopes_.find(node.args[0].text) : nullptr;
  if (named == nullptr || !named->is(Binding::Kind::dimension)) {
    source_.fail(node.mark, what, "it takes an array, which is over dimensions",
                 fmt::format("make an array over dim K local = {}, of i64(index(K))", count));
  }
  const std::string& dim = node.args[0].text;
  const std::string body = with_index(source_.diagnostic(node.mark, {}).source_line, node.mark.column, node.text, dim);
  source_.fail(node.mark, what,
               fmt::format("[{} in {}: ...] that reads no element of an array at {} is a small array, since {} has a "
                           "known size",
                           node.text, dim, node.text, dim),
               body.empty() ? fmt::format("write it of index({}), which is an array over {}", dim, dim)
                            : fmt::format("write {}, an array over {}", body, dim));
}

ValueId NamedAxes::sliced(ValueId array, DimId part, DimId whole, std::int64_t by, Mark mark, const std::string& hint) {
  Type type = module_.type(array);
  const OutsideFault outside =
      outside_fault(module_, part, whole, by, [&](DimId dim) { return module_.dim(dim).size; });
  if (!outside.what.empty()) source_.fail(mark, outside.what, outside.why, outside.remedy);
  Op op{.code = OpCode::slice, .operands = {array}, .over = {whole}, .dim = part};
  displace(op, by);
  const std::vector<DimId> dims = type.dims;
  std::replace(type.dims.begin(), type.dims.end(), whole, part);
  if (stands_twice(dims) || stands_twice(type.dims)) {
    source_.fail(mark,
                 fmt::format("a slice of an array over {} to {}", show_dims(module_, dims), module_.dim(part).name),
                 "arrays meet by the names of dimensions, and one stands twice",
                 another_name(module_, stands_twice(dims) ? dims : type.dims));
  }
  return builder_.emit(std::move(op), mark, hint, type);
}

DimId AlongAxis::along(ValueId array, const Node* over, const Node& call) const {
  const std::vector<DimId>& dims = module_.type(array).dims;
  const std::vector<DimId> named = types_.named(dims, over, call.mark);
  const std::vector<DimId>& found = named.empty() ? dims : named;
  if (found.size() == 1) return found[0];
  const std::string last = module_.dim(dims.back()).name;
  source_.fail(call.mark, fmt::format("{} of an array over {}", call.text, show_dims(module_, dims)),
               "it works along one dimension",
               fmt::format("name it: {}({}, over {})", call.text,
                           call.text == "scan"   ? "+, A"
                           : call.text == "take" ? "A, k"
                                                 : "A",
                           last));
}

Term AlongAxis::scan(const Node& fn, const Node& argument, const Node* over, const Node& call,
                     const std::string& hint) {
  const ValueId from = array(argument, call);
  const Type type = module_.type(from);
  const DimId dim = along(from, over, call);
  const FnId by = reducers_.plain(fn, type.element, call.mark);
  return values_.term(
      builder_.emit({.code = OpCode::scan, .operands = {from}, .fns = {by}, .over = {dim}}, call.mark, hint, type));
}

Term AlongAxis::scan_call(const Node& node, const std::string& hint) {
  const Node* over = over_argument(node, 2);
  if (node.args.size() != 2 && over == nullptr) {
    source_.fail(node.mark, "scan takes a function and an array", {}, "write scan(+, v), or scan(+, A, over F)");
  }
  return scan(node.args[0], node.args[1], over, node, hint);
}

Term AlongAxis::cumulated(const Node& node, const std::string& hint) {
  static const std::map<std::string, std::string> functions{
      {"cumsum", "add"}, {"cumprod", "mul"}, {"cummax", "max"}, {"cummin", "min"}};
  const Node* over = over_argument(node, 1);
  if (node.args.size() != 1 && over == nullptr) {
    source_.fail(node.mark, fmt::format("{} of {} arguments", node.text, node.args.size()), "it takes one array",
                 fmt::format("write {0}(v), or {0}(A, over F)", node.text));
  }
  return scan(function_node(functions.at(node.text), node.mark), node.args[0], over, node, hint);
}

Term AlongAxis::sort(const Node& node, const std::string& hint) {
  const Node* over = over_argument(node, 1);
  if (node.args.size() != 1 && over == nullptr) {
    source_.fail(node.mark, fmt::format("{} of {} arguments", node.text, node.args.size()), "it takes one array",
                 fmt::format("write {0}(v), or {0}(A, over F)", node.text));
  }
  const ValueId from = array(node.args[0], node);
  const DimId dim = along(from, over, node);
  Type type = module_.type(from);
  if (!type.element.is_scalar()) {
    source_.fail(node.args[0].mark, fmt::format("{} of {}", node.text, show(module_, type.element)),
                 "numbers have an order", "sort one component, or take(A, argsort(key))");
  }
  const OpCode code = node.text == "sort" ? OpCode::sort : OpCode::argsort;
  if (code == OpCode::argsort) type.element = ElementType::id(dim);
  return values_.term(builder_.emit({.code = code, .operands = {from}, .over = {dim}}, node.mark, hint, type));
}

// The array's dimension that the places belong to: the named one, that of their ids, or the only one.
Term AlongAxis::take(const Node& node, const std::string& hint) {
  const Node* over = over_argument(node, 2);
  if (node.args.size() != 2 && over == nullptr) {
    source_.fail(node.mark, fmt::format("take of {} arguments", node.args.size()),
                 "it takes an array and an array of places", "write take(v, k), or take(A, k, over N)");
  }
  const ValueId from = array(node.args[0], node), places = array(node.args[1], node);
  const ElementType& place = module_.type(places).element;
  const bool ids = place.is_scalar() && place.scalar() == Scalar::id;
  const bool known = over == nullptr && ids && contains(module_.type(from).dims, place.components[0].id_of);
  const DimId dim = known ? place.components[0].id_of : along(from, over, node);
  if (!place.is(Scalar::i64) && !place.is(Scalar::i32) && place != ElementType::id(dim)) {
    OtherPlaces told{fmt::format("places along '{0}' are id[{0}], i64 or i32", module_.dim(dim).name), ""};
    if (ids) told = other_places(module_, place.components[0].id_of, dim, node.args[1], false);
    source_.fail(node.args[1].mark, fmt::format("take of places that are {}", show(module_, place)), told.why,
                 told.remedy);
  }
  Type type = module_.type(from);
  type.dims = taken_dims(type.dims, dim, module_.type(places).dims);
  if (stands_twice(type.dims)) {
    source_.fail(node.mark, fmt::format("a result over {}", show_dims(module_, type.dims)), "a dimension stands twice");
  }
  return values_.term(
      builder_.emit({.code = OpCode::take, .operands = {from, places}, .over = {dim}}, node.mark, hint, type));
}

ValueId AlongAxis::observed(ValueId mask, DimId dim, const Node& call) {
  const std::string& name = module_.dim(dim).name;
  if (const Builder::Picked* const known = builder_.picked(dim)) {
    if (known->mask == mask) return known->size;
    source_.fail(call.mark, fmt::format("dimension '{}' has the mask of line {}", name, known->mark.line),
                 "its size is that of one mask",
                 "give the mask a name, and pick by that name; or declare a dimension for each mask");
  }
  if (!builder_.at_top()) {
    source_.fail(call.mark, fmt::format("the first pick of '{}' in a loop or branch", name),
                 "its size is found once, at the program's own level",
                 fmt::format("pick before: the size of '{}' is the same from then on", name));
  }
  const FnId add = reducers_.plain(function_node("add", call.mark), ElementType::of(Scalar::i64), call.mark);
  const ValueId ones = values_.materialise(convert_term(module_, Scalar::i64, values_.term(mask)), "t", call.mark);
  const ValueId count = values_.reduce(add, ones, {}, call.mark, "count");
  const ValueId size = builder_.emit({.code = OpCode::observe, .operands = {count}, .dim = dim}, call.mark,
                                     "size_" + name, {ElementType::of(Scalar::i64)});
  builder_.add_picked(dim, {mask, size, call.mark});
  return size;
}

Term AlongAxis::pick(const Node& node, const std::string& hint) {
  constexpr const char* form = "write pick(x, x > 0, K) with dim K some N";
  if (node.args.size() != 3) {
    source_.fail(node.mark, fmt::format("pick of {} argument{}", node.args.size(), node.args.size() == 1 ? "" : "s"),
                 "it takes an array, a mask, and the dimension of what is picked", form);
  }
  const std::vector<DimId> named = types_.dims(node.args[2]);
  if (named.size() != 1) source_.fail(node.args[2].mark, "pick to several dimensions", "it is along one", form);
  const DimId dim = named[0];
  const std::string& name = module_.dim(dim).name;
  if (!module_.dim(dim).is_observed()) {
    source_.fail(node.args[2].mark, fmt::format("pick to dimension '{}', which has a size of its own", name),
                 "how many elements are picked is known when it runs", "declare it: dim K some N");
  }
  const DimId whole = module_.dim(dim).derived.sources[0];
  const ValueId from = array(node.args[0], node), mask = array(node.args[1], node);
  const auto wrong = [&](size_t i, ValueId given, const char* what) {
    source_.fail(node.args[i].mark, fmt::format("pick {} {}", what, show(module_, module_.type(given))),
                 fmt::format("'{0}' is some of '{1}': the mask is bool[{1}], and the array is over '{1}'", name,
                             module_.dim(whole).name));
  };
  const Type& kind = module_.type(mask);
  if (!kind.element.is(Scalar::boolean) || kind.dims != std::vector{whole}) wrong(1, mask, "by a mask that is");
  Type type = module_.type(from);
  const auto made = with_replaced(type.dims, {whole}, {dim});
  if (!made) wrong(0, from, "of an array that is");
  const ValueId size = observed(mask, dim, node);
  type.dims = *made;
  return values_.term(builder_.emit({.code = OpCode::pick, .operands = {from, mask, size}, .over = {whole}, .dim = dim},
                                    node.mark, hint, type));
}

}  // namespace kasen::lang
