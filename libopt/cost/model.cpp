// The paper's column (docs/cost.md, "The model").
#include <algorithm>
#include <array>

#include "libcore/ir/array_views.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/module.h"
#include "libcore/ir/products.h"
#include "libcore/ir/regions.h"
#include "libcore/rows/row_region.h"
#include "libopt/cost/extent.h"
#include "libopt/cost/rules.h"

namespace kasen {
namespace {

// A nonzero has two 4-byte coordinates before its value; a dense matrix has values alone.
constexpr std::int64_t coordinate_bytes = 8;

void read_array(const CostContext& c, ValueId value, Cost& cost) {
  const Polynomial elements = stored_elements(*c.module, c.type(value));
  cost.read_elements += elements;
  cost.read += elements * Polynomial(c.type(value).element.bytes());
}

void make_array(const CostContext& c, ValueId value, Cost& cost) {
  const Type& type = c.type(value);
  const Polynomial elements = stored_elements(*c.module, type) * Polynomial(std::max<std::int64_t>(type.list, 1));
  cost.written_elements += elements;
  cost.written += elements * Polynomial(type.element.bytes());
  cost.buffers += elements * Polynomial(type.element.bytes());
}

Cost model_vector(const CostContext& c, const Op& op) {
  Cost cost;
  for (const ValueId value : distinct_arrays(*c.module, op.operands)) read_array(c, value, cost);
  for (const ValueId value : distinct_arrays(*c.module, op.results)) make_array(c, value, cost);
  return cost;
}

// Values of a matrix that are aligned are read as those of an array are.
Cost model_join(const CostContext& c, const Op& op) {
  Cost cost = model_vector(c, op);
  if (op.code != OpCode::align || op.operands.size() > 2) return cost;
  const std::int64_t bytes = c.type(op.operands[1]).element.bytes();
  cost.read += c.entries(op.operands[1]) * Polynomial(bytes);
  if (bytes > 0) cost.read_elements += c.entries(op.operands[1]);
  return cost;
}

// By itself a view is a copy of the elements that it shows.
Cost model_view(const CostContext& c, const Op& op) {
  Cost cost;
  if (!is_distributed_array(*c.module, op.results.at(0))) return cost;
  read_array(c, op.results[0], cost);
  make_array(c, op.results[0], cost);
  return cost;
}

// Charges what a region reads from outside: arrays, and the elements that its views show of some.
void read_from_outside(const CostContext& c, const Op& region, std::span<const Op* const> work, Cost& cost,
                       ValueId matrix = no_value) {
  std::vector<ValueId> read;
  for (const Op* op : work) {
    if (is_view(*op) && contains(region.operands, viewed(*op))) read.push_back(op->results.at(0));
    for (const ValueId v : op->operands) {
      if (v != matrix && contains(region.operands, v) && reads_along(*op, v)) read.push_back(v);
    }
  }
  for (const ValueId value : distinct_arrays(*c.module, read)) read_array(c, value, cost);
}

std::int64_t entry_bytes(const Type& matrix) { return matrix.element.bytes() + (matrix.sparse ? coordinate_bytes : 0); }

// One product's share of each nonzero: an element of its vector and one of its result, which is read and written back.
// Where the vector's dimension is local, every worker has all of it, and a nonzero still reads one element. Of several
// columns it reads one of each.
void add_entry_shares(const CostContext& c, const Op& product, Cost& cost) {
  const Type& vector = c.type(product.operands.at(0));
  const Type& result = c.type(product.results.at(0));
  const Polynomial entries = c.entries(product.operands.at(1)) * column_elements(*c.module, product);
  const Polynomial result_bytes(result.element.bytes());
  cost.read += entries * (Polynomial(vector.element.bytes()) + result_bytes);
  cost.written += entries * result_bytes;
  cost.read_elements += entries * Polynomial(2);
  cost.written_elements += entries;
}

void add_model_product(const CostContext& c, const Op& product, Cost& cost) {
  add_entry_shares(c, product, cost);
  const Type& result = c.type(product.results.at(0));
  if (is_distributed_array(*c.module, product.results.at(0))) {
    cost.buffers += stored_elements(*c.module, result) * Polynomial(result.element.bytes());
  }
}

void add_matrix(const CostContext& c, ValueId matrix, Cost& cost) {
  cost.read += c.entries(matrix) * Polynomial(entry_bytes(c.type(matrix)));
  cost.read_elements += c.entries(matrix);
}

Cost model_product(const CostContext& c, const Op& op) {
  Cost cost;
  add_matrix(c, op.operands.at(1), cost);
  add_model_product(c, op, cost);
  return cost;
}

// The nonzeros of a fold read every operand.
void add_entry_reads(const CostContext& c, const Op& op, Cost& cost) {
  for (size_t i = 1; i < op.operands.size(); ++i) {
    const Type& type = c.type(op.operands[i]);
    if (entry_side(*c.module, op, i) == EntrySide::shared) continue;
    const Polynomial share = c.entries(op.operands.at(0)) * point_elements(*c.module, type);
    cost.read += share * Polynomial(type.element.bytes());
    cost.read_elements += share;
  }
}

// Like a product whose nonzeros read every operand and give a point, whose columns are read and written back.
void add_fold_shares(const CostContext& c, const Op& op, Cost& cost) {
  add_entry_reads(c, op, cost);
  const Type& result = c.type(op.results.at(0));
  const Polynomial results = c.entries(op.operands.at(0)) * point_elements(*c.module, result),
                   bytes(result.element.bytes());
  cost.read += results * bytes;
  cost.written += results * bytes;
  cost.read_elements += results;
  cost.written_elements += results;
}

void add_model_fold(const CostContext& c, const Op& op, Cost& cost) {
  add_fold_shares(c, op, cost);
  const Type& result = c.type(op.results.at(0));
  if (is_distributed_array(*c.module, op.results[0])) {
    cost.buffers += stored_elements(*c.module, result) * Polynomial(result.element.bytes());
  }
}

Cost model_fold(const CostContext& c, const Op& op) {
  Cost cost;
  add_matrix(c, op.operands.at(0), cost);
  add_model_fold(c, op, cost);
  return cost;
}

// Each nonzero's value is written once.
Cost model_entries(const CostContext& c, const Op& op) {
  Cost cost;
  add_matrix(c, op.operands.at(0), cost);
  add_entry_reads(c, op, cost);
  make_array(c, op.results.at(0), cost);
  return cost;
}

Cost model_nothing(const CostContext&, const Op&) { return {}; }

Cost model_transition(const CostContext& c, const Op& op) { return transition_network(c, op); }

constexpr std::array model_rules{
#define OP_COST(code, model, actual) CostRule{OpCode::code, model_##model},
#include "libopt/cost/operators.def"
#undef OP_COST
};
static_assert(is_complete(model_rules));  // each operator, in its order

}  // namespace

// Charges each array from outside once, and each live array once.
Cost model_iter_on_vec(const CostContext& c, const Op& region) {
  Cost cost;
  std::vector<const Op*> work;
  for (const Op& op : region.blocks.at(0).ops) {
    if (op.code != OpCode::yield) work.push_back(&op);
  }
  read_from_outside(c, region, work, cost);
  for (const ValueId value : distinct_arrays(*c.module, region.results)) make_array(c, value, cost);
  return cost;
}

// Charges the matrix's nonzeros once, and the share of each product and fold.
Cost model_mxm(const CostContext& c, const Op& region) {
  Cost cost;
  add_matrix(c, product_matrix(region), cost);
  for (const Op& op : entry_operators(region)) {
    if (is_fold(op)) add_model_fold(c, op, cost);
    if (is_product(op)) add_model_product(c, op, cost);
  }
  return cost;
}

// The paper has no such region. It is charged as the product, the gather and the region of vector operators that it
// joins, so that a plan's figures are the same with it and without. The actual column has the bytes that it saves.
Cost model_product_epilogue(const CostContext& c, const Op& region) {
  Cost cost = model_product(c, epilogue_product(region));
  cost += transition_network(c, epilogue_gather(region));
  Op vector = region;
  const std::vector<Op>& ops = region.blocks[0].ops;
  vector.operands.clear();
  for (size_t i = 2; i + 1 < ops.size(); ++i) {
    for (const ValueId v : ops[i].operands) {
      const bool outside = std::find(region.operands.begin(), region.operands.end(), v) != region.operands.end();
      if (outside || v == epilogue_gather(region).results.at(0)) vector.operands.push_back(v);
    }
  }
  cost += model_vector(c, vector);
  return cost;
}

// Charges the values that a region of rows gives. Those of products are written with each nonzero.
template <class ByProduct>
void hand_on(const CostContext& c, const Op& region, const ByProduct& by_product, Cost& cost) {
  for (const ValueId value : distinct_arrays(*c.module, region.blocks[0].ops.back().operands)) {
    if (by_product(value)) {
      cost.buffers += stored_elements(*c.module, c.type(value)) * Polynomial(c.type(value).element.bytes());
    } else {
      make_array(c, value, cost);
    }
  }
}

// Charged as a region of its products and one of its vector work, without vectors between them. The matrix's nonzeros
// count once with each product's share, each vector of rows from outside once, and each vector handed on once.
Cost model_row_chain(const CostContext& c, const Op& region) {
  Cost cost;
  const RowChain chain = row_chain(region);
  add_matrix(c, product_matrix(region), cost);
  for (const auto* products : {&chain.inner, &chain.outer}) {
    for (const Op* op : *products) add_entry_shares(c, *op, cost);
  }
  read_from_outside(c, region, chain.work, cost, product_matrix(region));
  hand_on(
      c, region,
      [&](ValueId value) {
        return std::any_of(chain.outer.begin(), chain.outer.end(),
                           [&](const Op* op) { return op->results[0] == value; });
      },
      cost);
  return cost;
}

// Charged as a region of vector work, whose products share each element of their matrix.
Cost model_rows(const CostContext& c, const Op& region) {
  Cost cost;
  std::vector<const Op*> work, reading;  // without those whose nonzeros read all that they need
  for (const Op& op : region.blocks.at(0).ops) {
    if (op.code == OpCode::yield) continue;
    work.push_back(&op);
    if (!visits_entries(*c.module, op)) reading.push_back(&op);
    if (is_product(op)) add_entry_shares(c, op, cost);
    if (gives_entries(op)) {
      add_entry_reads(c, op, cost);
    } else if (is_fold(op)) {
      add_fold_shares(c, op, cost);
    }
  }
  if (const ValueId matrix = sparse_rows(*c.module, region); matrix != no_value) add_matrix(c, matrix, cost);
  read_from_outside(c, region, reading, cost);
  hand_on(
      c, region,
      [&](ValueId value) {
        return std::any_of(work.begin(), work.end(), [&](const Op* op) {
          const bool at_nonzeros = op->code == OpCode::mxv || (visits_entries(*c.module, *op) && !gives_entries(*op));
          return at_nonzeros && op->results[0] == value;
        });
      },
      cost);
  return cost;
}

Cost model_cost(const CostContext& context, const Op& op) {
  if (context.boxes) return context.boxes->model(op);
  return model_rules.at(static_cast<std::size_t>(op.code)).cost(context, op);
}

Cost transition_network(const CostContext& c, const Op& op) {
  const Module& module = *c.module;
  const Type& from = c.type(op.operands.at(0));
  const Type& to = c.type(op.results.at(0));
  const Type& held = op.code == OpCode::gather ? from : to;  // the side that has ghosts
  Cost cost;
  if (Layout(module, from).is_shared()) {
    const Polynomial others = Polynomial(Symbol{SymbolKind::workers, "", {}, -1}) - Polynomial(1);
    cost.network_elements = others * shared_elements(module, held);
  } else {
    cost.network_elements = slave_indices(module, held) * inner_elements(module, held);
  }
  cost.network = cost.network_elements * Polynomial(held.element.bytes());
  return cost;
}

namespace {

// What is left of it without the nonzeros of batches, and what each of these adds, in the sum over all batches.
Polynomial without_batches(const Polynomial& polynomial) {
  return polynomial.replace([](const Symbol& s) { return s.kind == SymbolKind::batch ? Polynomial() : Polynomial(s); });
}
Polynomial of_all_batches(const Polynomial& polynomial) {
  return polynomial.replace([](const Symbol& s) {
    return Polynomial(s.kind == SymbolKind::batch ? Symbol{SymbolKind::entries, s.name, {}, -1} : s);
  }) - without_batches(polynomial);
}

}  // namespace

Cost repeated_by_batches(const Cost& cost, const Polynomial& times, const Polynomial& turns) {
  Cost made;
  for (Polynomial Cost::*part : {&Cost::read, &Cost::written, &Cost::network, &Cost::read_elements,
                                 &Cost::written_elements, &Cost::network_elements}) {
    made.*part = without_batches(cost.*part) * times + of_all_batches(cost.*part) * turns;
  }
  made.buffers = cost.buffers;
  return made;
}

namespace {

// For each batch, the loop that takes every batch of its input once: its variable, from 0 to the number of batches, is
// the index. -1: another index.
class BatchLoops {
 public:
  explicit BatchLoops(const Module& module) : module_(module) {
    for_each_op(module, [&](const Op& op, int number, int) {
      if (op.code == OpCode::literal && op.literal.size() == 1) numbers_[op.results.at(0)] = op.literal[0].i;
      if (op.code == OpCode::size) sizes_[op.results.at(0)] = op.dim;
      if (op.code == OpCode::for_loop) loops_[op.blocks.at(0).args.at(0)] = {&op, number};
    });
  }

  [[nodiscard]] int loop_of(const Op& batch) const {
    const auto loop = loops_.find(batch.operands.at(1));
    if (loop == loops_.end()) return -1;
    const std::vector<ValueId>& bounds = loop->second.first->operands;
    const auto lo = numbers_.find(bounds.at(0)), hi = numbers_.find(bounds.at(1));
    const auto size = sizes_.find(bounds[1]);
    const DimId dim = batch.over.at(0);
    const bool all =
        size != sizes_.end() ? size->second == dim : hi != numbers_.end() && hi->second == module_.dim(dim).size;
    return lo != numbers_.end() && lo->second == 0 && all ? loop->second.second : -1;
  }

 private:
  const Module& module_;
  std::map<ValueId, std::int64_t> numbers_;
  std::map<ValueId, DimId> sizes_;
  std::map<ValueId, std::pair<const Op*, int>> loops_;  // by variable
};

}  // namespace

CostContext cost_context(const Module& module) {
  CostContext context{&module, {}, {}, {}};
  if (names_layouts(module)) context.boxes = std::make_shared<const BoxCosts>(module);
  std::optional<BatchLoops> loops;
  for_each_op(module, [&](const Op& op, int, int) {
    if (op.code == OpCode::input) context.inputs.emplace(op.results.at(0), op.name);
    if (op.code != OpCode::batch) return;
    context.inputs.emplace(op.results.at(0), context.inputs.at(op.operands.at(0)));
    if (!loops) loops.emplace(module);
    context.batches.emplace(op.results[0], loops->loop_of(op));
  });
  return context;
}

std::string CostContext::matrix_name(ValueId value) const {
  const auto it = inputs.find(value);
  return it == inputs.end() ? module->value(value).name : it->second;
}

Polynomial CostContext::entries(ValueId matrix) const {
  if (batches.contains(matrix)) return Polynomial(Symbol{SymbolKind::batch, matrix_name(matrix), {}, -1});
  return stored_entries(*module, type(matrix), matrix_name(matrix));
}

}  // namespace kasen
