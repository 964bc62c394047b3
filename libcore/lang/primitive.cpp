// Calls that work on whole arrays: map, reductions, and arrays made without operands.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "libcore/lang/lower.h"

namespace kasen::lang {

const Lowering::Primitive* Lowering::find_primitive(const std::string& name) {
  static constexpr std::array<Primitive, 29> rows{{
      {"map", &Lowering::map_call},
      {"Map", &Lowering::map_call},
      {"zipwith", &Lowering::map_call},
      {"ZipWith", &Lowering::map_call},
      {"reduce", &Lowering::reduce_call},
      {"Reduce", &Lowering::reduce_call},
      {"mxv", &Lowering::product_call},
      {"MxV", &Lowering::product_call},
      {"mxvt", &Lowering::product_call},
      {"MxVT", &Lowering::product_call},
      {"sum", &Lowering::reduction_call},
      {"prod", &Lowering::reduction_call},
      {"min", &Lowering::reduction_call},
      {"max", &Lowering::reduction_call},
      {"any", &Lowering::reduction_call},
      {"all", &Lowering::reduction_call},
      {"mean", &Lowering::mean_call, true},
      {"sumsq", &Lowering::squares_call, true},
      {"argmax", &Lowering::place_call, true},
      {"argmin", &Lowering::place_call, true},
      {"dot", &Lowering::dot_call},
      {"fill", &Lowering::fill_call},
      {"index", &Lowering::index_call},
      {"size", &Lowering::size_call},
      {"random", &Lowering::random_call, true},
      {"normal", &Lowering::random_call, true},
      {"outer", &Lowering::outer_call, true},
      {"range", &Lowering::range_call, true},
      {"at", &Lowering::at_call, true},
  }};
  const auto it = std::find_if(rows.begin(), rows.end(), [&](const Primitive& p) { return p.name == name; });
  return it == rows.end() ? nullptr : &*it;
}

Lowering::Names Lowering::primitive_names() {
  return {"map",    "zipwith", "reduce", "mxv",    "mxvt",   "sum", "prod",  "min",  "max",   "any",
          "all",    "mean",    "sumsq",  "argmax", "argmin", "dot", "outer", "fill", "index", "size",
          "random", "normal",  "range",  "at",     "f64",    "f32", "i64",   "i32"};
}

Node Lowering::function_node(const std::string& name, Mark mark) const {
  Node node;
  node.kind = NodeKind::name;
  node.mark = mark;
  node.text = name;
  if (functions_.contains(name)) throw InternalError("a built-in name was redefined");
  return node;
}

void Lowering::require_array(const Term& term, Mark mark, const std::string& what) {
  if (!term.dims.empty()) return;
  source_.fail(mark, fmt::format("{} of a single value", what), "it takes an array with at least one dimension");
}

// map(f, a, b, ...) and zipwith(f, a, b, s...): only f of the elements; of single values alone, f of them.
Term Lowering::map_call(const Node& node, const std::string&) {
  if (node.args.size() < 2) {
    source_.fail(node.mark, fmt::format("{} takes a function and at least one array or value", node.text));
  }
  std::vector<Term> args = elements(node.args, 1);
  std::vector<DimId> dims;
  std::vector<ValueId> leaves;
  for (const Term& arg : args) {
    if (arg.dims.size() > dims.size()) {
      dims = arg.dims;
      leaves = arg.leaves;
    }
  }
  // Each array is repeated to the full shape, so that the function may use them in any order.
  for (Term& arg : args) {
    const bool fits = std::all_of(arg.dims.begin(), arg.dims.end(),
                                  [&](DimId d) { return std::find(dims.begin(), dims.end(), d) != dims.end(); });
    if (arg.dims.empty() || arg.dims.size() == dims.size() || !fits) continue;
    arg.dims = dims;
    arg.named = false;
  }
  Term result = apply_function(node.args[0], std::move(args), node.mark);
  if (result.dims.size() < dims.size()) {  // the function ignores the array: its shape counts
    result.dims = std::move(dims);
    for (const ValueId leaf : leaves) {
      if (std::find(result.leaves.begin(), result.leaves.end(), leaf) == result.leaves.end()) {
        result.leaves.push_back(leaf);
      }
    }
    result.literal = false;
  }
  return result;
}

FnId Lowering::instantiate(const Node& fn, const std::vector<ElementType>& types, Mark mark, const std::string& what) {
  std::vector<Term> args;
  std::vector<ScalarParam> params;
  const Statement* user = nullptr;
  if (fn.kind == NodeKind::name && functions_.contains(fn.text)) user = functions_.at(fn.text);
  for (size_t i = 0; i < types.size(); ++i) {
    args.push_back(leaf_term(parameter_leaf(static_cast<int>(i)), types[i], {}));
    std::string name(1, static_cast<char>('x' + i));
    if (user != nullptr && i < user->params.size()) name = user->params[i].name;
    if (fn.kind == NodeKind::lambda && i < fn.params.size()) name = fn.params[i].name;
    params.push_back({name, types[i]});
  }
  const Term body = apply_function(fn, std::move(args), mark);
  const bool builtin = user == nullptr && fn.kind != NodeKind::lambda;
  const std::string name = user != nullptr ? fn.text : builtin ? std::string(row(body.expr.op).name) : "f_" + what;
  ValueId stray = no_value;
  ScalarFunction made = finish_function(body, std::move(params), name, stray);
  if (stray != no_value) {
    source_.fail(fn.mark, fmt::format("this function uses '{}'", base_names_[static_cast<size_t>(stray)]),
                 fmt::format("the functions of {} see nothing but their parameters", what),
                 "make it a const, or apply it in a map before or after");
  }
  const FnId id = module_.add_function(std::move(made));
  if (user != nullptr) {
    Instance instance{id, {}};
    for (size_t i = 0; i < types.size(); ++i) instance.operand_of.push_back(static_cast<int>(i));
    instances_[fn.text].push_back(std::move(instance));
  }
  return id;
}

// The dimensions of an array that `over` names; none for all of them, which is the common form.
std::vector<DimId> Lowering::named_dims(const std::vector<DimId>& whole, const Node* over, Mark mark) {
  if (over == nullptr) return {};
  std::vector<DimId> rest = whole;
  std::vector<DimId> dims;
  for (const NameAt& name : over->names) {
    const DimId d = dim_named(name);
    const auto it = std::find(rest.begin(), rest.end(), d);
    if (it == rest.end()) {
      source_.fail(name.mark, fmt::format("the array has no dimension '{}'", name.text),
                   fmt::format("it is over {}", show_dims(module_, whole)));
    }
    rest.erase(it);
    dims.push_back(d);
  }
  if (rest.empty()) return {};
  if (std::set<DimId>(whole.begin(), whole.end()).size() < whole.size()) {
    source_.fail(mark, fmt::format("a reduction of an array over {} along some of them", show_dims(module_, whole)),
                 "a dimension is listed twice, and the name does not say which is meant",
                 "multiply with a vector of ones: A @ fill(1.0, N) for the rows, A' @ fill(1.0, N) for the columns");
  }
  return dims;
}

ValueId Lowering::emit_reduce(FnId fn, ValueId array, const std::vector<DimId>& over, Mark mark,
                              const std::string& hint) {
  Type type = module_.type(array);
  type.element = module_.fn(fn).result();
  const auto gone = [&](DimId d) { return over.empty() || std::find(over.begin(), over.end(), d) != over.end(); };
  type.dims.erase(std::remove_if(type.dims.begin(), type.dims.end(), gone), type.dims.end());
  return emit(OpCode::reduce, mark, hint, type, [&](Op& op) {
    op.fns = {fn};
    op.operands = {array};
    op.over = over;
  });
}

Term Lowering::reduce(const Node& fn, Term array, const Node* over, Mark mark, const std::string& hint) {
  require_array(array, mark, "a reduction");
  if (is_entries(array)) return reduce_entries(fn, std::move(array), over, mark, hint);
  const ValueId operand = materialise(std::move(array), "t", mark);
  const std::vector<DimId> dims = named_dims(module_.type(operand).dims, over, mark);
  const ElementType element = module_.type(operand).element;
  const Reducer by = reducer_with_mask(fn, element, mark);
  const ValueId from = by.masked ? materialise(with_mask(value_term(operand, false)), "t", mark) : operand;
  const ValueId result = emit_reduce(by.fn, from, dims, mark, hint);
  return by.masked ? without_mask(result, element, by) : value_term(result, false);
}

Term Lowering::reduce_call(const Node& node, const std::string& hint) {
  const bool over = node.args.size() == 3 && node.args[2].kind == NodeKind::over;
  if (node.args.size() != 2 && !over) {
    source_.fail(node.mark, fmt::format("{} takes a function and an array", node.text), {},
                 "write reduce(+, v), or reduce(+, A, over F)");
  }
  return reduce(node.args[0], element(node.args[1]), over ? &node.args[2] : nullptr, node.mark, hint);
}

// The array of sum(v), sum(A, over F) and similar calls.
Term Lowering::aggregated(const Node& node) {
  const bool over = node.args.size() == 2 && node.args[1].kind == NodeKind::over;
  if (node.args.size() != 1 && !over) {
    const bool extremum = node.text == "min" || node.text == "max";
    const bool coordinates = extremum || node.text == "sum" || node.text == "prod";
    source_.fail(
        node.mark, fmt::format("{} of {} arguments", node.text, node.args.size()),
        extremum ? "it takes one array, or two values" : "it takes one array",
        fmt::format("write {0}(v){1}{0}(A, over F){2}", node.text, coordinates ? ", " : " or ",
                    coordinates ? fmt::format(", or {}(j in d: p[j]) for coordinates", node.text) : std::string()));
  }
  Term array = element(node.args[0]);
  require_array(array, node.args[0].mark, node.text);
  return array;
}

// sum(v) and similar calls.
Term Lowering::reduction_call(const Node& node, const std::string& hint) {
  static const std::map<std::string, std::string> functions{{"sum", "add"}, {"prod", "mul"}, {"min", "min"},
                                                            {"max", "max"}, {"any", "or"},   {"all", "and"}};
  Term array = aggregated(node);
  return reduce(function_node(functions.at(node.text), node.mark), std::move(array),
                node.args.size() == 2 ? &node.args[1] : nullptr, node.mark, hint);
}

Term Lowering::dot_call(const Node& node, const std::string& hint) {
  if (node.args.size() != 2) source_.fail(node.mark, "dot takes two arrays");
  std::vector<Term> args = elements(node.args);
  for (size_t i = 0; i < 2; ++i) require_array(args[i], node.args[i].mark, "dot");
  Term pairs = at(node.mark, [&] { return combine(module_, ScalarOp::mul, std::move(args)); });
  return reduce(function_node("add", node.mark), std::move(pairs), nullptr, node.mark, hint);
}

DimId Lowering::dim_argument(const Node& node) {
  if (node.kind != NodeKind::name) source_.fail(node.mark, "the name of a dimension is meant here");
  return dim_named({node.text, node.mark});
}

// fill(value, N, ...)
Term Lowering::fill_call(const Node& node, const std::string&) {
  if (node.args.size() < 2) source_.fail(node.mark, "fill takes a value and dimensions", {}, "write fill(1.0, N)");
  Term value = element(node.args[0]);
  if (!value.dims.empty()) source_.fail(node.args[0].mark, "fill takes a single value, not an array");
  Type type;
  type.element = value.type();
  for (size_t i = 1; i < node.args.size(); ++i) type.dims.push_back(dim_argument(node.args[i]));
  value = conform(std::move(value), type, node.mark, "fill");
  value.named = false;
  return value;
}

ValueId Lowering::emit_index(DimId dim, Mark mark, const std::string& hint) {
  Type type;
  type.element = ElementType::id(dim);
  type.dims = {dim};
  return emit(OpCode::index, mark, hint, type, [&](Op& op) { op.dim = dim; });
}

Term Lowering::index_call(const Node& node, const std::string& hint) {
  if (node.args.size() != 1) source_.fail(node.mark, "index takes a dimension", {}, "write index(N)");
  return value_term(emit_index(dim_argument(node.args[0]), node.mark, hint), false);
}

ValueId Lowering::emit_size(DimId dim, Mark mark, const std::string& hint) {
  Type type;
  type.element = ElementType::of(Scalar::i64);
  return emit(OpCode::size, mark, hint, type, [&](Op& op) { op.dim = dim; });
}

Term Lowering::size_call(const Node& node, const std::string& hint) {
  if (node.args.size() != 1) source_.fail(node.mark, "size takes a dimension", {}, "write size(N)");
  return value_term(emit_size(dim_argument(node.args[0]), node.mark, hint), false);
}

}  // namespace kasen::lang
