#include "libcore/lang/indexed/elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "libcore/lang/calls/view.h"
#include "libcore/syntax/make_nodes.h"

namespace kasen::lang {
namespace {

// `x[m] += v`: the elements that change are read without the mask.
void read_whole(Node& value, const Statement& put) {
  if (value.kind != NodeKind::operation || value.args.empty()) return;
  const Node& read = value.args[0];
  const bool written = read.kind == NodeKind::index && read.mark.line == put.mark.line &&
                       read.mark.column == put.mark.column && read.args[0].text == put.name.text;
  if (written) value.args[0] = made_name(put.mark, put.name.text);
}

}  // namespace

Term Elements::lowest(const ElementType& element, Mark mark) const {
  switch (element.is_scalar() ? element.scalar() : Scalar::null) {
    case Scalar::f64:
    case Scalar::f32:
      return literal_term(element.scalar(), Word::real(-std::numeric_limits<double>::infinity()));
    case Scalar::i64:
      return literal_term(Scalar::i64, Word::integer(std::numeric_limits<std::int64_t>::min()));
    case Scalar::i32:
      return literal_term(Scalar::i32, Word::integer(std::numeric_limits<std::int32_t>::min()));
    case Scalar::boolean:
      return literal_term(Scalar::boolean, Word::integer(0));
    default:
      source_.fail(mark, fmt::format("one element of an array of {}", show(module_, element)),
                   "elements that are numbers or bool are taken out of an array that is cut",
                   "take out each component, or i64(x) of ids");
  }
}

// The index, checked when it runs.
ValueId Elements::place(DimId dim, const Node& index) {
  const Binding* const named = index.kind == NodeKind::name ? scopes_.find(index.text) : nullptr;
  if (named != nullptr && named->is(Binding::Kind::value) && !module_.type(named->id).dims.empty()) {
    source_.fail(
        index.mark, "an index of an element that is an array", "one element has a single index",
        fmt::format("write take(x, {}, over {}) for the elements at many places", index.text, module_.dim(dim).name));
  }
  const ValueId i = evaluator_.shared(index, Scalar::i64, "place", "the index of an element", dim);
  const RangeSizes sizes{module_.dim(dim).name, module_.dim(dim).size, 1, true};
  const Op* const last = builder_.last();
  const bool known = last != nullptr && last->code == OpCode::literal && last->results[0] == i;
  const std::string fault = range_fault(sizes, known ? last->literal[0].i : 0);
  if (!fault.empty()) source_.fail(index.mark, outside_text(sizes), fault, outside_remedy(sizes));
  return builder_.emit({.code = OpCode::within, .operands = {i}, .dim = dim}, index.mark, "place",
                       {ElementType::of(Scalar::i64)});
}

bool names_one_twice(const std::vector<DimId>& dims) {
  return std::any_of(dims.begin(), dims.end(), [&](DimId d) { return std::count(dims.begin(), dims.end(), d) > 1; });
}

// True at the element. Where a dimension stands twice, an array over it would lie along its last axis: then each axis
// has a mask of its own, and `outer` or index notation says which one is whose.
Node Elements::here(const std::vector<DimId>& dims, const std::vector<Node>& indices, Mark mark, Scopes::Scope& names) {
  const bool apart = names_one_twice(dims), square = apart && dims.size() == 2;
  Node all;
  for (std::size_t k = 0; k < dims.size(); ++k) {
    const std::string own = own_name(mark, fmt::format("place{}", k));
    const std::string dim = own_name(mark, fmt::format("dim{}", k));  // a def need not see the program's
    names[own] = {.id = place(dims[k], indices[k])};
    names[dim] = {.kind = Binding::Kind::dimension, .dim = dims[k]};
    Node index = made_node(NodeKind::call, mark, "index", {made_name(mark, dim)});
    Node number = made_node(NodeKind::call, mark, "i64", {std::move(index)});
    Node equal = made_operation(ScalarOp::eq, mark, {std::move(number), made_name(mark, own)});
    if (apart && !square) equal = element_of(std::move(equal), k, mark, names);
    if (k == 0)
      all = std::move(equal);
    else if (square)
      all = made_node(NodeKind::call, mark, "outer",
                      {made_node(NodeKind::op_ref, mark, "&&"), std::move(all), std::move(equal)});
    else
      all = made_operation(ScalarOp::logical_and, mark, {std::move(all), std::move(equal)});
  }
  return apart && !square ? for_all(dims.size(), std::move(all), mark) : all;
}

// `mask[i]` of such a mask, computed before.
Node Elements::element_of(Node mask, std::size_t axis, Mark mark, Scopes::Scope& names) {
  const std::string own = own_name(mark, fmt::format("mask{}", axis));
  const Scopes::Inner scope(scopes_, Scopes::Scope(names));
  names[own] = {.id = values_.materialise(evaluator_.element(mask), "here", mark)};
  return made_node(NodeKind::index, mark, "",
                   {made_name(mark, own), made_name(mark, own_name(mark, fmt::format("i{}", axis)))});
}

// `[i0 in dim0, i1 in dim1: value]`
Node Elements::for_all(std::size_t axes, Node value, Mark mark) {
  Node loop = made_node(NodeKind::loop, mark, "");
  loop.op = ScalarOp::build;
  loop.text = own_name(mark, "i0");
  loop.depth = value.depth + 1;
  for (std::size_t k = 0; k < axes; ++k) {
    loop.names.push_back({own_name(mark, fmt::format("i{}", k)), mark});
    loop.args.push_back(made_name(mark, own_name(mark, fmt::format("dim{}", k))));
  }
  loop.args.push_back(std::move(value));
  return loop;
}

Term Elements::get(Term array, const Node& node, const std::string& hint) {
  const Term least = lowest(array.type(), node.mark);
  ValueId rest = values_.materialise(std::move(array), "t", node.mark);
  std::vector<DimId> cut;
  std::vector<Node> indices;
  const std::vector<DimId> dims = module_.type(rest).dims;
  for (std::size_t k = 0; k < dims.size(); ++k) {
    if (module_.dim(dims[k]).local && !names_one_twice(dims)) {
      rest = emit_at(builder_, rest, dims[k], place(dims[k], node.args[k + 1]), node.mark,
                     k + 1 < dims.size() ? "t" : hint);
    } else {
      cut.push_back(dims[k]);
      indices.push_back(node.args[k + 1]);
    }
  }
  if (cut.empty()) return values_.term(rest);
  Scopes::Scope names;
  Node there = here(cut, indices, node.mark, names);
  const std::string array_name = own_name(node.mark, "array"), least_name = own_name(node.mark, "least");
  names[array_name] = {.id = rest};
  names[least_name] = {.kind = Binding::Kind::constant, .term = least};
  Node one = made_operation(ScalarOp::select, node.mark,
                            {std::move(there), made_name(node.mark, array_name), made_name(node.mark, least_name)});
  const bool mask = least.type().is(Scalar::boolean);
  const Scopes::Inner scope(scopes_, std::move(names));
  return evaluator_.eval(made_node(NodeKind::call, node.mark, mask ? "any" : "max", {std::move(one)}), hint);
}

// A bool array over dimensions of the array.
bool Elements::is_mask(const Statement& put, const std::vector<DimId>& dims) {
  const Term term = evaluator_.element(put.index[0]);
  if (!term.type().is(Scalar::boolean)) return false;
  if (names_one_twice(dims) && !term.dims.empty() && term.dims.size() < dims.size())
    source_.fail(
        put.index[0].mark,
        fmt::format("a mask over {} for an array over {}", show_dims(module_, term.dims), show_dims(module_, dims)),
        "nothing says whether it chooses rows or columns",
        fmt::format("write {0} = [i in {1}, j in {1}: if mask[i] then v else {0}[i, j]] for rows", put.name.text,
                    module_.dim(term.dims[0]).name));
  return true;
}

Statement Elements::whole(const Statement& put, Type array, Scopes::Scope& names) {  // a copy: values are added
  Statement s = put;
  s.kind = StatementKind::assign;
  s.index.clear();
  Node there;
  if (put.index.size() == 1 && is_mask(put, array.dims)) {
    there = put.index[0];
    read_whole(s.value[0], put);
  } else if (put.index.size() == array.dims.size()) {
    there = here(array.dims, put.index, put.mark, names);
  } else {
    source_.fail(put.mark,
                 fmt::format("{} for an element of {}", put.index.size() == 1 ? "one index" : "several indices",
                             show(module_, array)),
                 "an element has an index for each dimension, and many elements have a mask",
                 fmt::format("write {0} = if c then v else {0}, with c an array of bool", put.name.text));
  }
  s.value[0] = made_operation(ScalarOp::select, put.mark,
                              {std::move(there), std::move(s.value[0]), made_name(put.mark, put.name.text)});
  return s;
}

}  // namespace kasen::lang
