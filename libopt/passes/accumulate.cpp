// Why: in `C + A @ B` over a mesh of workers, the product's result is written once and read once, only to be added. The
// product can begin with the elements of C instead, and products that are added contribute to one array, which is
// gathered once. The naive way joins every sum that has a product in it. But a product that others read as well would
// be computed twice, and of two other terms one more array would be made. In the default layout regions fuse the
// addition with its surroundings, which saves more. So it takes sums of products that have one reader, and of one other
// array at most, in plans over a mesh or with contractions. Requires unplaced values; keeps the level.
#include <algorithm>
#include <iterator>
#include <utility>

#include "libcore/ir/contraction.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libopt/passes/passes.h"
#include "libopt/rewrite/rewrite.h"

namespace kasen {
namespace {

// Whether the expression combines parameters by `op` alone, each of which is counted in `seen`.
bool combines_parameters(const Expr& e, ScalarOp op, std::vector<int>& seen) {
  if (e.op == ScalarOp::param) {
    ++seen.at(static_cast<std::size_t>(e.index));
    return true;
  }
  return e.op == op &&
         std::all_of(e.args.begin(), e.args.end(), [&](const Expr& arg) { return combines_parameters(arg, op, seen); });
}

class Accumulator {
 public:
  explicit Accumulator(Module& module)
      : m_(module), uses_(count_uses(module)), products_(module.values.size(), nullptr) {}

  bool run() {
    for_each_block(m_, [&](Block& block) { visit(block); });
    return changed_;
  }

 private:
  void visit(Block& block) {
    std::fill(products_.begin(), products_.end(), nullptr);
    gone_.clear();
    std::vector<Op> ops;
    for (const Op& op : block.ops) {
      if (is_alone(op)) products_[op.results[0]] = &op;
      if (!join(op, ops)) ops.push_back(op);
    }
    if (gone_.empty()) return;
    changed_ = true;
    std::erase_if(ops, [&](const Op& op) { return !op.results.empty() && contains(gone_, op.results[0]); });
    block.ops = std::move(ops);
  }

  [[nodiscard]] bool is_alone(const Op& op) const {
    return is_contraction(m_, op) && reduces_terms(op) && !is_onto(op) &&
           uses_[static_cast<std::size_t>(op.results.at(0))] == 1;
  }

  // Adds contractions in place of a map that combines products. False if it does not.
  bool join(const Op& map, std::vector<Op>& ops) {
    std::vector<const Op*> products;
    ValueId array = no_value;
    if (!is_sum_of_products(map, products, array)) return false;
    if (array == no_value) {  // the first product is made as it is
      array = products.front()->results[0];
      products.erase(products.begin());
    }
    for (const Op* product : products) {
      gone_.push_back(product->results[0]);
      const bool last = product == products.back();
      const Value made = m_.value(product->results[0]);
      ops.push_back(onto(*product, array, last ? map.results[0] : m_.add_value(made.name, made.type), map.where));
      array = ops.back().results[0];
    }
    return true;
  }

  // In program order, with the one operand that is no product. Reducers take their arguments in any order.
  bool is_sum_of_products(const Op& map, std::vector<const Op*>& products, ValueId& array) const {
    if (map.code != OpCode::map || map.operands.size() < 2) return false;
    for (const ValueId v : map.operands) {
      const Op* product = products_[v];
      if (!fits(map, v) || (product == nullptr && array != no_value)) return false;
      if (product == nullptr) array = v;
      if (product != nullptr) products.push_back(product);
    }
    std::sort(products.begin(), products.end());
    return std::all_of(products.begin(), products.end(), [&](const Op* product) { return combines(map, *product); });
  }

  [[nodiscard]] bool fits(const Op& map, ValueId operand) const {
    const Type &type = m_.type(operand), &made = m_.type(map.results.at(0));
    return !type.compressed && !type.sparse && type.element == made.element && type.dims == made.dims;
  }

  // Whether the map is the product's reducer, on each of its operands once.
  [[nodiscard]] bool combines(const Op& map, const Op& product) const {
    const ScalarFunction& reducer = m_.fn(product.fns[1]);
    std::vector<int> seen(map.operands.size(), 0);
    return is_plain_operator(reducer, reducer.body.op) &&
           combines_parameters(m_.fn(map.fns.at(0)).body, reducer.body.op, seen) &&
           std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; });
  }

  [[nodiscard]] Op onto(const Op& product, ValueId array, ValueId result, const Location& where) const {
    Op op;
    op.code = OpCode::contract;
    op.name = labels_text(labels_of(m_, product));
    op.fns = product.fns;
    op.operands = {product.operands[0], product.operands[1], array};
    op.results = {result};
    op.where = where;
    return op;
  }

  Module& m_;
  const std::vector<int> uses_;
  IdMap<ValueId, const Op*> products_;  // those of the block that may go onto an array
  std::vector<ValueId> gone_;
  bool changed_ = false;
};

}  // namespace

bool pass_accumulate(Module& module, PassContext& context) {
  const OptimizeOptions& options = context.options;
  if (options.mesh.empty() && options.mesh_workers == 0 && !names_layouts(module)) return false;
  return Accumulator(module).run();
}

}  // namespace kasen
