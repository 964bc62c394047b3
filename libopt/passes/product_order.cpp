// Why: three factors are multiplied two by two, and the language takes the two whose product is smallest, as one worker
// would. Over a mesh of workers what moves decides, and that is seen from all cuts together. MTTKRP of a tensor that is
// cut along J and K alone moves parts of factors if these are multiplied first, and much of a product of the tensor
// otherwise; cut along I and J, it is the reverse. So both other orders are tiled as the program is, and the one of
// which least moves stands, ties as it was. An order is left out where it takes many more terms, or makes an array that
// is larger than those at hand. Requires values that are neither cut nor placed; keeps the level.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcore/analysis/map_laws.h"
#include "libcore/analysis/whole.h"
#include "libcore/ir/contraction.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libopt/layouts/cut_rules.h"
#include "libopt/layouts/tile.h"
#include "libopt/passes/passes.h"
#include "libopt/rewrite/rewrite.h"
#include "libopt/sync/box_products.h"

namespace kasen {
namespace {

// How many times the terms of the order at hand another one may have.
constexpr double most_terms = 1.25;
// Each is tiled twice.
constexpr int most_chains = 8;

struct ProductFactor {
  ValueId value = no_value;
  std::string labels;
};

// Two steps with one reader between them, which together multiply three factors.
struct FactorChain {
  std::array<ProductFactor, 3> factors;  // the first two make the inner array
  std::string kept;                      // the result's labels
  std::map<char, DimId> dims;
  FnId times = no_fn, reducer = no_fn;
  ValueId inner = no_value, result = no_value;
  std::vector<ValueId> gone;  // results of the operators that a new order replaces, the last one first

  [[nodiscard]] Type type(const Module& module, const std::string& labels) const {
    Type made = module.type(result);
    made.dims.clear();
    for (const char label : labels) made.dims.push_back(dims.at(label));
    return made;
  }
};

// A product of two arrays, or a reduction of one that sums nothing.
struct FactorStep {
  const Op* contraction = nullptr;
  Labels labels;
  FnId reducer = no_fn;  // no_fn: it sums nothing
};

bool is_one_of(const Module& module, FnId fn, std::initializer_list<ScalarOp> ops) {
  return std::any_of(ops.begin(), ops.end(), [&](ScalarOp op) { return is_plain_operator(module.fn(fn), op); });
}

// Terms may be summed before they are multiplied with what all of them have.
bool distributes(const Module& module, FnId times, FnId reducer) {
  if (is_one_of(module, times, {ScalarOp::mul})) return is_one_of(module, reducer, {ScalarOp::add});
  return is_one_of(module, times, {ScalarOp::add}) && is_one_of(module, reducer, {ScalarOp::min, ScalarOp::max});
}

class FactorChains {
 public:
  explicit FactorChains(const Module& module) : m_(module), uses_(count_uses(module)) {}

  // Of one block, in the program's order.
  std::vector<FactorChain> in(const Block& block) {
    makers_.clear();
    std::vector<FactorChain> chains;
    for (const Op& op : block.ops) {
      if (auto chain = ending_at(op)) chains.push_back(*std::move(chain));
      if (op.results.size() == 1) makers_[op.results[0]] = &op;
    }
    return chains;
  }

 private:
  // What made a value that has one reader, in this block.
  [[nodiscard]] const Op* maker(ValueId v) const {
    const auto it = makers_.find(v);
    return it == makers_.end() || uses_[static_cast<std::size_t>(v)] != 1 ? nullptr : it->second;
  }

  // Of a contraction, or a map of two operands, whose axes meet by name.
  [[nodiscard]] std::optional<FactorStep> product(const Op& op) const {
    if (is_contraction(m_, op) && !is_onto(op)) {
      return FactorStep{&op, labels_of(m_, op), reduces_terms(op) ? op.fns[1] : no_fn};
    }
    if (op.code != OpCode::map || op.operands.size() != 2) return std::nullopt;
    const std::vector<DimId>& dims = m_.type(op.results.at(0)).dims;
    Labels labels;
    for (std::size_t axis = 0; axis < dims.size(); ++axis) labels.result += static_cast<char>('a' + axis);
    for (const ValueId v : op.operands) {
      std::string& own = labels.operands.emplace_back();
      for (const std::ptrdiff_t axis : met_axes(dims, m_.type(v).dims)) {
        if (axis == no_axis) return std::nullopt;
        own += labels.result.at(static_cast<std::size_t>(axis));
      }
    }
    return FactorStep{&op, std::move(labels), no_fn};
  }

  [[nodiscard]] std::optional<FactorStep> step(const Op& op) const {
    if (op.code != OpCode::reduce) return product(op);
    const Op* const made = op.over.empty() ? nullptr : maker(op.operands.at(0));
    std::optional<FactorStep> step = made == nullptr ? std::nullopt : product(*made);
    if (!step || step->reducer != no_fn) return std::nullopt;
    step->reducer = op.fns.at(0);
    const std::vector<DimId>& dims = m_.type(op.operands[0]).dims;
    std::string kept;
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      if (!contains(op.over, dims[axis])) kept += step->labels.result[axis];
    }
    step->labels.result = kept;
    return step;
  }

  [[nodiscard]] bool is_plain(ValueId v, const Type& like) const {
    const Type& type = m_.type(v);
    return !type.sparse && !type.compressed && type.list == 0 && type.element == like.element && !type.dims.empty();
  }

  [[nodiscard]] std::optional<FactorChain> ending_at(const Op& op) const {
    const std::optional<FactorStep> last = step(op);
    if (!last) return std::nullopt;
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      const Op* const made = maker(last->contraction->operands[i]);
      const std::optional<FactorStep> first = made == nullptr ? std::nullopt : step(*made);
      if (!first) continue;
      if (auto chain = joined(*first, *last, i, op)) return chain;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<FactorChain> joined(const FactorStep& first, const FactorStep& last, std::size_t operand,
                                                  const Op& op) const {
    const FnId reducer = last.reducer == no_fn ? first.reducer : last.reducer;
    const FnId times = last.contraction->fns.at(0);
    if (reducer == no_fn || !distributes(m_, times, reducer)) return std::nullopt;
    if (!same_function(m_, times, first.contraction->fns.at(0))) return std::nullopt;
    if (first.reducer != no_fn && !same_function(m_, first.reducer, reducer)) return std::nullopt;
    FactorChain chain;
    chain.times = times, chain.reducer = reducer, chain.kept = last.labels.result, chain.result = op.results.at(0);
    chain.inner = last.contraction->operands[operand];
    const std::string& as = last.labels.operands[operand];
    std::map<char, char> names;
    for (std::size_t i = 0; i < as.size(); ++i) names[first.labels.result.at(i)] = as[i];
    const std::size_t other = 1 - operand;
    chain.factors[2] = {last.contraction->operands[other], last.labels.operands[other]};
    note_dims(chain, chain.factors[2].labels, chain.factors[2].value);
    note_dims(chain, as, chain.inner);
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      chain.factors.at(i) = {first.contraction->operands[i], renamed(first.labels.operands[i], names, chain)};
      note_dims(chain, chain.factors.at(i).labels, chain.factors.at(i).value);
    }
    for (const ProductFactor& factor : chain.factors) {
      if (!is_plain(factor.value, m_.type(chain.result))) return std::nullopt;
    }
    chain.gone = {chain.result, last.contraction->results[0], chain.inner, first.contraction->results[0]};
    return chain;
  }

  void note_dims(FactorChain& chain, const std::string& labels, ValueId value) const {
    for (std::size_t i = 0; i < labels.size(); ++i) chain.dims.emplace(labels[i], m_.type(value).dims.at(i));
  }

  // A label that the first step sums gets a letter that the last one does not have.
  [[nodiscard]] static std::string renamed(const std::string& labels, std::map<char, char>& names,
                                           const FactorChain& chain) {
    std::string made;
    for (const char label : labels) {
      if (!names.contains(label)) {
        char free = 'a';
        const auto taken = [&](char letter) {
          return chain.dims.contains(letter) ||
                 std::any_of(names.begin(), names.end(), [&](const auto& name) { return name.second == letter; });
        };
        while (taken(free)) ++free;
        names[label] = free;
      }
      made += names.at(label);
    }
    return made;
  }

  const Module& m_;
  const std::vector<int> uses_;
  std::map<ValueId, const Op*> makers_;
};

// ---- orders

// The two factors that are multiplied first, and what the third one or the result needs of them.
struct FactorOrder {
  std::array<std::size_t, 3> places;  // the last one's is [2]
  std::string left;
};

FactorOrder order_of(const FactorChain& chain, std::size_t last) {
  FactorOrder order{{last == 0 ? std::size_t{1} : 0, last == 2 ? std::size_t{1} : 2, last}, ""};
  const std::string both = chain.factors.at(order.places[0]).labels + chain.factors.at(order.places[1]).labels;
  for (const bool summed_later : {true, false}) {  // as the columns of a matrix
    for (const char label : both) {
      const bool kept = has_label(chain.kept, label);
      if (has_label(order.left, label) || kept == summed_later) continue;
      if (kept || has_label(chain.factors.at(last).labels, label)) order.left += label;
    }
  }
  return order;
}

class OrderSizes {
 public:
  OrderSizes(const Module& module, const FactorChain& chain, const ProductSizes& sizes)
      : m_(module), chain_(chain), sizes_(sizes) {}

  [[nodiscard]] double elements(const std::string& labels) const {
    std::string once;
    for (const char label : labels) once += has_label(once, label) ? std::string() : std::string(1, label);
    return sizes_.elements(m_, chain_.type(m_, once).dims);
  }
  [[nodiscard]] double terms(const FactorOrder& order) const {
    const auto labels = [&](std::size_t i) { return chain_.factors.at(order.places.at(i)).labels; };
    return elements(labels(0) + labels(1)) + elements(order.left + labels(2));
  }
  [[nodiscard]] double largest() const {
    double most = elements(chain_.kept);
    for (const ProductFactor& factor : chain_.factors) most = std::max(most, elements(factor.labels));
    return most;
  }

 private:
  const Module& m_;
  const FactorChain& chain_;
  const ProductSizes& sizes_;
};

Op contract(const FactorChain& chain, const ProductFactor& a, const ProductFactor& b, const std::string& result,
            ValueId made, const Location& where) {
  Op op;
  op.code = OpCode::contract;
  const Labels labels{{a.labels, b.labels}, result};
  op.name = labels_text(labels);
  op.fns = {chain.times};
  if (!labels.summed().empty()) op.fns.push_back(chain.reducer);
  op.operands = {a.value, b.value};
  op.results = {made};
  op.where = where;
  return op;
}

void reorder(Module& module, const FactorChain& chain, const FactorOrder& order) {
  const ValueId made =
      module.add_value(module.value(chain.inner).name, chain.type(module, order.left));  // it gets a name of its own
  for_each_block(module, [&](Block& block) {
    const auto ends = [&](const Op& op) { return op.results.size() == 1 && op.results[0] == chain.result; };
    const auto end = std::find_if(block.ops.begin(), block.ops.end(), ends);
    if (end == block.ops.end()) return;
    const Location where = end->where;
    const auto factor = [&](std::size_t i) { return chain.factors.at(order.places.at(i)); };
    std::vector<Op> ops;
    for (const Op& op : block.ops) {
      if (ends(op)) {
        ops.push_back(contract(chain, factor(0), factor(1), order.left, made, where));
        ops.push_back(contract(chain, factor(2), {made, order.left}, chain.kept, chain.result, where));
      } else if (op.results.size() != 1 || !contains(chain.gone, op.results[0])) {
        ops.push_back(op);
      }
    }
    block.ops = std::move(ops);
  });
}

double moved_bytes(const Module& module, PassContext& context) {
  return search_tilings(module, context.laws, context.options).front().solution.cost;
}

// The other orders that are worth a search.
std::vector<FactorOrder> other_orders(const Module& module, const FactorChain& chain, const ProductSizes& sizes) {
  const OrderSizes of(module, chain, sizes);
  const double allowed = std::max(of.largest(), sizes.elements(module, module.type(chain.inner).dims));
  const double terms = of.terms(order_of(chain, 2)) * most_terms;
  std::vector<FactorOrder> orders;
  for (const std::size_t last : {std::size_t{0}, std::size_t{1}}) {
    FactorOrder order = order_of(chain, last);
    if (!order.left.empty() && of.elements(order.left) <= allowed && of.terms(order) <= terms) {
      orders.push_back(std::move(order));
    }
  }
  return orders;
}

// Writes the order of which least moves. `now`: what the module moves, if that is known; it is kept so.
bool improve(Module& module, const FactorChain& chain, const std::vector<FactorOrder>& orders, PassContext& context,
             std::optional<double>& now) {
  if (!now) now = moved_bytes(module, context);
  std::optional<Module> best;
  for (const FactorOrder& order : orders) {
    Module other = module;
    reorder(other, chain, order);
    compact_values(other);
    const double moved = moved_bytes(other, context);
    if (moved >= *now) continue;
    now = moved;
    best = std::move(other);
  }
  if (best) module = *std::move(best);
  return best.has_value();
}

std::vector<FactorChain> chains_of(Module& module) {
  std::vector<FactorChain> chains;
  FactorChains found(module);
  for_each_block(module, [&](Block& block) {
    for (FactorChain& chain : found.in(block)) chains.push_back(std::move(chain));
  });
  return chains;
}

}  // namespace

bool pass_product_order(Module& module, PassContext& context) {
  const OptimizeOptions& options = context.options;
  const bool meshed = !options.mesh.empty() || options.mesh_workers > 0;
  if (!meshed || options.tile == TileSearch::none || !module.mesh.empty() || is_tiled(module)) return false;
  std::vector<FactorChain> chains = chains_of(module);
  if (chains.empty()) return false;
  const ProductSizes sizes(tiling_sizes(module, options).bindings);
  bool changed = false;
  int tried = 0;
  std::optional<double> now;
  for (std::size_t place = 0; place < chains.size() && tried < most_chains; ++place) {
    const std::vector<FactorOrder> orders = other_orders(module, chains[place], sizes);
    if (orders.empty()) continue;
    ++tried;
    if (!improve(module, chains[place], orders, context, now)) continue;
    changed = true;
    chains = chains_of(module);  // as many or fewer, in the same order
  }
  return changed;
}

}  // namespace kasen
