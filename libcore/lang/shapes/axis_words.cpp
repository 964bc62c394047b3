#include "libcore/lang/shapes/axis_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kasen::lang {
namespace {

bool is_rows(const std::string& word) { return word == "rows"; }

// A function stands before the array in reduce(f, A, over rows).
size_t place_of_array(const Node& call) {
  return call.args.size() > 2 && (call.text == "reduce" || call.text == "Reduce" || call.text == "scan") ? 1 : 0;
}

}  // namespace

bool names_axis(const std::string& word) { return is_rows(word) || word == "columns" || word == "cols"; }

bool AxisWords::stand_in(const Node& call) const {
  if (call.args.size() < 2 || call.args.back().kind != NodeKind::over) return false;
  const Node& over = call.args.back();
  if (has_keys(&over) || over.names.size() != 1 || !names_axis(over.names[0].text)) return false;
  const Binding* const b = scopes_.find(over.names[0].text);
  return b == nullptr || !b->is(Binding::Kind::dimension);
}

Term AxisWords::lower(const Node& call, const std::string& hint) {
  Node again = call;
  Node& node = again.args[place_of_array(call)];
  const NameAt word = call.args.back().names[0];
  Term array = evaluator_.operand(node);
  const std::vector<DimId> dims =
      formulas_.is_entries(array) ? formulas_.own_dims(array, node.mark) : std::as_const(array).dims;
  if (dims.size() != 2 || array.open) {
    source_.fail(word.mark, fmt::format("'{}' of an array over {}", word.text, show_dims(module_, dims)),
                 "rows and columns are those of an array of two dimensions", "name the dimension");
  }
  DimId axis = dims[is_rows(word.text) ? 0 : 1];
  if (dims[0] == dims[1]) array = apart(std::move(array), is_rows(word.text), axis, call);
  Binding value = bound(std::move(array), node);
  node = Node{};
  node.kind = NodeKind::name;
  node.mark = call.args[place_of_array(call)].mark;
  node.text = "the array";  // no name of a program
  const Scopes::Inner names(scopes_,
                            {{node.text, std::move(value)},
                             {word.text, {.kind = Binding::Kind::dimension, .dim = axis, .fixed = "an axis"}}});
  Term result = evaluator_.any(again, hint);
  if (dims[0] != dims[1] || !contains(result.dims, axis) || formulas_.is_entries(result)) return result;
  std::vector<DimId> back = result.dims;  // of a call that keeps the axis, as cumsum does
  std::replace(back.begin(), back.end(), axis, dims[0]);
  return renaming_.as(std::move(result), back, call.mark, hint);
}

Binding AxisWords::bound(Term array, const Node& node) {
  if (formulas_.is_entries(array)) return {.kind = Binding::Kind::formula, .term = std::move(array)};
  return {.id = values_.materialise(std::move(array), "t", node.mark)};
}

// A number, or an expression of numbers and of names of single values: it meets no axis.
bool AxisWords::is_single(const Node& node) const {
  switch (node.kind) {
    case NodeKind::integer:
    case NodeKind::real:
    case NodeKind::boolean:
      return true;
    case NodeKind::name: {
      const Binding* const b = scopes_.find(node.text);
      if (b == nullptr) return false;
      return b->is(Binding::Kind::constant) ||
             (b->is(Binding::Kind::value) && module_.type(b->id).dims.empty() && module_.type(b->id).list == 0);
    }
    case NodeKind::operation:
      return std::all_of(node.args.begin(), node.args.end(), [&](const Node& arg) { return is_single(arg); });
    case NodeKind::call:
      return node.text == "size" ||
             (scalar_named(node.text) != Scalar::null && node.args.size() == 1 && is_single(node.args[0]));
    default:
      return false;
  }
}

// Another array of the call would meet the axis that keeps its name, whichever is meant.
Term AxisWords::apart(Term array, bool rows, DimId& axis, const Node& call) {
  const DimId own = axis;
  if (std::any_of(call.args.begin() + static_cast<std::ptrdiff_t>(place_of_array(call)) + 1, call.args.end() - 1,
                  [&](const Node& arg) { return !is_single(arg); })) {
    source_.fail(call.mark, fmt::format("{} of an array over {} and others", call.text, show_dims(module_, {own, own})),
                 "rows and columns have one name, and nothing says which of them the others meet",
                 fmt::format("give one of them another name: dim Other{1} = {0}[:], and A as [{0}, Other]",
                             module_.dim(own).name, module_.dim(own).local ? " local" : ""));
  }
  axis = renaming_.other_name(own);
  return renaming_.as(std::move(array), rows ? std::vector{axis, own} : std::vector{own, axis}, call.mark, "t");
}

}  // namespace kasen::lang
