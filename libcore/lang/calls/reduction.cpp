#include "libcore/lang/calls/reduction.h"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace kasen::lang {

Reductions::Reductions(const Part& part, Reducers& reducers, Folds& folds)
    : Part(part), reducers_(reducers), folds_(folds) {
  using Name = Functions::Name;
  functions_.add({"reduce", "Reduce"}, Name::kept, [this](auto& node, auto& hint) { return reduce_call(node, hint); });
  functions_.add({"sum", "prod", "min", "max", "any", "all"}, Name::kept,
                 [this](auto& node, auto& hint) { return named_call(node, hint); });
  functions_.add({"mean"}, Name::yields, [this](auto& node, auto&) { return mean(node); });
  functions_.add({"sumsq"}, Name::yields, [this](auto& node, auto& hint) { return sum_of_squares(node, hint); });
  functions_.add({"argmax", "argmin"}, Name::yields, [this](auto& node, auto&) { return place(node); });
  functions_.add({"dot"}, Name::kept, [this](auto& node, auto& hint) { return dot_call(node, hint); });
}

Term Reductions::reduce(const Node& fn, Term array, const Node* over, Mark mark, const std::string& hint) {
  if (has_keys(over)) return grouped(fn, std::move(array), *over, mark, hint);
  values_.require_array(array, mark, "a reduction");
  if (formulas_.is_entries(array)) return folds_.reduce(fn, std::move(array), over, mark, hint);
  const ValueId operand = values_.materialise(std::move(array), "t", mark);
  const std::vector<DimId> dims = types_.named(module_.type(operand).dims, over, mark);
  const ElementType element = module_.type(operand).element;
  const Reducer by = reducers_.with_mask(fn, element, mark);
  const ValueId from = by.masked ? values_.materialise(Reducers::mask(values_.term(operand)), "t", mark) : operand;
  const ValueId result = values_.reduce(by.fn, from, dims, mark, hint);
  return by.masked ? reducers_.unmask(result, element, by) : values_.term(result);
}

Term Reductions::reduce_call(const Node& node, const std::string& hint) {
  const Node* over = over_argument(node, 2);
  if (node.args.size() != 2 && over == nullptr) {
    source_.fail(node.mark, fmt::format("{} takes a function and an array", node.text), {},
                 "write reduce(+, v), or reduce(+, A, over F)");
  }
  return reduce(node.args[0], evaluator_.element(node.args[1]), over, node.mark, hint);
}

// The array of sum(v), sum(A, over F) and similar calls.
Term Reductions::aggregated(const Node& node) {
  if (node.args.size() != 1 && over_argument(node, 1) == nullptr) {
    const bool extremum = node.text == "min" || node.text == "max";
    const bool coordinates = extremum || node.text == "sum" || node.text == "prod";
    source_.fail(
        node.mark, fmt::format("{} of {} arguments", node.text, node.args.size()),
        extremum ? "it takes one array, or two values" : "it takes one array",
        fmt::format("write {0}(v){1}{0}(A, over F){2}", node.text, coordinates ? ", " : " or ",
                    coordinates ? fmt::format(", or {}(j in d: p[j]) for coordinates", node.text) : std::string()));
  }
  Term array = evaluator_.element(node.args[0]);
  if (!has_keys(over_argument(node, 1))) values_.require_array(array, node.args[0].mark, node.text);
  return array;
}

Term Reductions::named_call(const Node& node, const std::string& hint) {
  static const std::map<std::string, std::string> functions{{"sum", "add"}, {"prod", "mul"}, {"min", "min"},
                                                            {"max", "max"}, {"any", "or"},   {"all", "and"}};
  Term array = aggregated(node);
  return reduce(function_node(functions.at(node.text), node.mark), std::move(array), over_argument(node, 1), node.mark,
                hint);
}

Term Reductions::dot(std::vector<Term> pair, Mark mark, const std::string& hint) {
  Term pairs = located(source_, mark, [&] { return combine(module_, ScalarOp::mul, std::move(pair)); });
  return reduce(function_node("add", mark), std::move(pairs), nullptr, mark, hint);
}

Term Reductions::dot_call(const Node& node, const std::string& hint) {
  if (node.args.size() != 2) source_.fail(node.mark, "dot takes two arrays");
  std::vector<Term> args = evaluator_.elements(node.args);
  for (size_t i = 0; i < 2; ++i) values_.require_array(args[i], node.args[i].mark, "dot");
  return dot(std::move(args), node.mark, hint);
}

}  // namespace kasen::lang
