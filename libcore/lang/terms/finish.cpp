// The canonical form of a term's function: two spellings of one computation become the same IR.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "libcore/ir/layout.h"
#include "libcore/lang/terms/term.h"
#include "libcore/scalar/loops.h"

namespace kasen::lang {
namespace {

// A loop's number is the number of loops around it: unique where required, and small.
void number_loops(Expr& e, std::map<int, int>& open, int depth) {
  if (e.op == ScalarOp::loop_var) e.index = open.at(e.index);
  if (is_coordinate_loop(e.op)) {
    open[e.index] = depth;
    e.index = depth++;
  }
  for (Expr& arg : e.args) number_loops(arg, open, depth);
}

void number_loops(Expr& e) {
  std::map<int, int> open;
  number_loops(e, open, 0);
}

// `x / 1` makes f64 of integers, as functions for all numbers write it; of floating point, it is x.
void drop_divisions_by_one(Expr& e) {
  for (Expr& arg : e.args) drop_divisions_by_one(arg);
  const bool by_one = e.op == ScalarOp::div && e.args[0].type == e.type && e.args[1].op == ScalarOp::constant &&
                      e.args[1].type == e.type && e.args[1].literal.f == 1;
  if (by_one) e = Expr(std::move(e.args[0]));
}

void first_uses(const Expr& e, std::vector<bool>& seen, std::vector<int>& order) {
  if (e.op == ScalarOp::param && !seen[static_cast<size_t>(e.index)]) {
    seen[static_cast<size_t>(e.index)] = true;
    order.push_back(e.index);
  }
  for (const Expr& arg : e.args) first_uses(arg, seen, order);
}

// True for one operator on its parameters in order, each once: the built-in function of that name.
bool is_plain(const Expr& e) {
  if (e.args.empty() || row(e.op).result == ResultRule::special) return false;
  for (size_t i = 0; i < e.args.size(); ++i) {
    if (e.args[i].op != ScalarOp::param || e.args[i].index != static_cast<int>(i)) return false;
  }
  return true;
}

std::string function_name(const Term& term, const Expr& body, const std::string& hint) {
  if (term.origin != nullptr) return term.origin->name.text;
  if (is_plain(body)) return std::string(row(body.op).name);
  if (body.op == ScalarOp::param) return "copy";
  return "f_" + hint.substr(hint.find(' ') + 1);  // without the place of a name of the lowering
}

std::string parameter_name(const Term& term, const Expr& body, ValueId leaf, size_t place,
                           const std::vector<std::string>& base_names) {
  if (term.origin != nullptr) {
    const auto it = std::find(term.origin_leaves.begin(), term.origin_leaves.end(), leaf);
    if (it != term.origin_leaves.end()) {
      return term.origin->params[static_cast<size_t>(it - term.origin_leaves.begin())].name;
    }
  }
  if (is_plain(body) || body.op == ScalarOp::param) return std::string(1, static_cast<char>('x' + place));
  return base_names[static_cast<size_t>(leaf)];
}

// Arrays before shareds. Unused leaves stay only if nothing else has their dimensions.
std::vector<int> operand_order(const Module& module, const Term& term) {
  std::vector<bool> seen(term.leaves.size(), false);
  std::vector<int> order;
  first_uses(term.expr, seen, order);
  const auto type_of = [&](int i) -> const Type& { return module.type(term.leaves[static_cast<size_t>(i)]); };
  std::set<DimId> covered;
  for (const int i : order) covered.insert(type_of(i).dims.begin(), type_of(i).dims.end());
  for (size_t i = 0; i < term.leaves.size(); ++i) {
    const std::vector<DimId>& dims = type_of(static_cast<int>(i)).dims;
    const bool adds = std::any_of(dims.begin(), dims.end(), [&](DimId d) { return !covered.contains(d); });
    if (seen[i] || !adds) continue;
    order.push_back(static_cast<int>(i));
    covered.insert(dims.begin(), dims.end());
  }
  std::stable_partition(order.begin(), order.end(), [&](int i) { return Layout(module, type_of(i)).is_distributed(); });
  return order;
}

}  // namespace

Finished finish(const Module& module, const Term& term, const std::string& hint,
                const std::vector<std::string>& base_names) {
  const std::vector<int> order = operand_order(module, term);
  std::vector<int> place(term.leaves.size(), -1);
  for (size_t k = 0; k < order.size(); ++k) place[static_cast<size_t>(order[k])] = static_cast<int>(k);

  Finished out;
  out.fn.body = term.expr;
  renumber_params(out.fn.body, place);
  number_loops(out.fn.body);
  drop_divisions_by_one(out.fn.body);
  out.fn.name = function_name(term, out.fn.body, hint);

  std::set<std::string> taken;
  for (size_t k = 0; k < order.size(); ++k) {
    const ValueId leaf = term.leaves[static_cast<size_t>(order[k])];
    out.operands.push_back(leaf);
    const std::string base = parameter_name(term, out.fn.body, leaf, k, base_names);
    std::string name = base;
    for (int number = 2; !taken.insert(name).second; ++number) name = fmt::format("{}_{}", base, number);
    out.fn.params.push_back({std::move(name), module.type(leaf).element});
  }
  return out;
}

ScalarFunction finish_function(const Term& term, std::vector<ScalarParam> params, std::string name, ValueId& stray) {
  stray = no_value;
  std::vector<int> place;
  std::vector<bool> seen(term.leaves.size(), false);
  std::vector<int> used;
  first_uses(term.expr, seen, used);
  for (size_t i = 0; i < term.leaves.size(); ++i) {
    const ValueId leaf = term.leaves[i];
    if (seen[i] && leaf >= 0) stray = leaf;
    place.push_back(leaf >= 0 ? 0 : -2 - leaf);
  }
  ScalarFunction fn{std::move(name), std::move(params), term.expr};
  if (stray != no_value) return fn;
  renumber_params(fn.body, place);
  number_loops(fn.body);
  drop_divisions_by_one(fn.body);
  return fn;
}

std::vector<Word> constant_words(const Term& term) {
  ScalarFunction fn{"constant", {}, term.expr};
  number_loops(fn.body);
  std::vector<Word> words(static_cast<size_t>(fn.body.type.planes()));
  evaluate(fn, {}, words);
  return words;
}

}  // namespace kasen::lang
