// The actual column (docs/cost.md, "The actual column"): the bytes that kernels and copies touch, over all workers.
#include <algorithm>
#include <array>
#include <set>

#include "libcore/analysis/compressed_rules.h"
#include "libcore/analysis/shared_traffic.h"
#include "libcore/analysis/state_rules.h"
#include "libcore/analysis/whole.h"
#include "libcore/ir/array_views.h"
#include "libcore/ir/axis_ops.h"
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

Polynomial element_bytes(const CostContext& c, ValueId value) {
  return inner_elements(*c.module, c.type(value)) * Polynomial(c.type(value).element.bytes());
}

// What a nonzero reads of an array that it meets, and all that results of products and folds store.
Polynomial point_bytes(const CostContext& c, ValueId value) {
  return point_elements(*c.module, c.type(value)) * Polynomial(c.type(value).element.bytes());
}

Polynomial bytes_of_lines(const CostContext& c, ValueId value) {
  return stored_lines(*c.module, c.type(value)) * point_bytes(c, value);
}

// Single values.
bool is_free(const CostContext& c, ValueId value) { return c.type(value).dims.empty() || c.type(value).sparse; }

bool by_pushdown(const CostContext& c, const Op& op) {
  const LawUse* law = law_in_force(*c.module, op);
  return law != nullptr && law->kind == LawKind::pushdown;
}

bool same_buffer(const CostContext& c, ValueId a, ValueId b) {
  return c.module->value(a).buffer != no_buffer && c.module->value(a).buffer == c.module->value(b).buffer;
}

// All elements, on each worker.
Polynomial bytes_everywhere(const CostContext& c, ValueId value) {
  const Type& type = c.type(value);
  return Polynomial(Symbol{SymbolKind::workers, "", {}, -1}) * whole_elements(*c.module, type) *
         Polynomial(type.element.bytes());
}

// True if a pushdown hands on the ghosts of its pre-reduced operand. They are copied, unless they stay in place.
bool hands_on_slaves(const CostContext& c, const Op& op, ValueId operand) {
  return op.code == OpCode::map && c.type(operand).state.is_pre() && by_pushdown(c, op);
}

// The arrays among `values` whose elements are in memory, each once.
std::vector<ValueId> uncompressed(const CostContext& c, const std::vector<ValueId>& values) {
  std::vector<ValueId> arrays = distinct_arrays(*c.module, values);
  std::erase_if(arrays, [&](ValueId v) { return c.type(v).compressed; });
  return arrays;
}

// Bytes of the compressed ones, once for all uses in an operator or region.
Polynomial compressed_bytes(const CostContext& c, const Op& op) {
  Polynomial bytes;
  const SymbolKind kind = takes_distinct_values(*c.module, op) ? SymbolKind::distinct : SymbolKind::compressed;
  for (const ValueId value : distinct_arrays(*c.module, op.operands)) {
    if (c.type(value).compressed) bytes += Polynomial(Symbol{kind, c.matrix_name(value), {}, -1});
  }
  return bytes;
}

// Bytes of the elements of a dense matrix.
Polynomial matrix_bytes(const CostContext& c, ValueId matrix) {
  if (c.type(matrix).compressed) return {};
  return c.entries(matrix) * Polynomial(c.type(matrix).element.bytes());
}

// The arrays that the operator reads element by element; an array that it reads whole counts like a shared.
std::vector<ValueId> read_along(const CostContext& c, const Op& op) {
  std::vector<ValueId> along;
  for (size_t i = is_view(op) ? 1 : 0; i < op.operands.size(); ++i) {
    if (!reads_whole(*c.module, op, i)) along.push_back(op.operands[i]);
  }
  return uncompressed(c, along);
}

Cost actual_elementwise(const CostContext& c, const Op& op) {
  Cost cost;
  const std::vector<ValueId> operands = read_along(c, op);
  const bool on_shareds = std::none_of(op.operands.begin(), op.operands.end(),
                                       [&](ValueId v) { return is_distributed_array(*c.module, v); });
  if (on_shareds) return cost;
  const Polynomial n = computed_indices(c, op);
  bool copies_slaves = false;
  for (const ValueId value : operands) {
    const bool copy = hands_on_slaves(c, op, value) && !same_buffer(c, value, op.results.at(0));
    copies_slaves = copies_slaves || copy;
    cost.read += (copy ? stored_indices(*c.module, c.type(value)) : n) * element_bytes(c, value);
  }
  if (makes_whole(*c.module, op)) {
    cost.written = stored_bytes(c, op.results.at(0));
    return cost;
  }
  for (const ValueId value : distinct_arrays(*c.module, op.results)) {
    cost.written += (copies_slaves ? stored_indices(*c.module, c.type(value)) : n) * element_bytes(c, value);
  }
  return cost;
}

// Bytes of its array that a view shows.
Polynomial shown_bytes(const CostContext& c, const Op& view) {
  const ValueId result = view.results.at(0);
  return is_distributed_array(*c.module, result) ? computed_indices(c, view) * element_bytes(c, result) : Polynomial();
}

// Bytes of its array that are read through a view; a compressed array is read as a whole.
Polynomial viewed_bytes(const CostContext& c, const Op& view) {
  return c.type(viewed(view)).compressed ? Polynomial() : shown_bytes(c, view);
}

// By itself a view is a copy.
Cost actual_shown(const CostContext& c, const Op& op) {
  Cost cost;
  cost.read = viewed_bytes(c, op);
  cost.written = shown_bytes(c, op);
  return cost;
}

// A region reads the elements that its views show of arrays from outside, each view by itself.
Polynomial bytes_of_views(const CostContext& c, const Op& region) {
  Polynomial bytes;
  for (const Op& op : region.blocks.at(0).ops) {
    if (is_view(op) && contains(region.operands, viewed(op))) bytes += viewed_bytes(c, op);
  }
  return bytes;
}

Cost actual_source(const CostContext& c, const Op& op) {
  Cost cost;
  for (const ValueId value : distinct_arrays(*c.module, op.results)) cost.written += stored_bytes(c, value);
  return cost;
}

// Owned elements, or owned elements and ghosts: the widest range of the region's operators that use the operand.
Polynomial widest_use(const CostContext& c, const Block& block, ValueId operand) {
  Polynomial widest;
  for (const Op& op : block.ops) {
    if (row(op.code).group != OpGroup::vector) continue;
    const std::vector<ValueId> along = read_along(c, op);
    if (std::find(along.begin(), along.end(), operand) == along.end()) continue;
    const bool all = hands_on_slaves(c, op, operand);
    const Polynomial n = all ? stored_indices(*c.module, c.type(operand)) : computed_indices(c, op);
    if (n.terms().size() > widest.terms().size()) widest = n;
  }
  return widest;
}

void add_index_reads(const CostContext& c, const Op& product, Cost& cost) {
  cost.read += Polynomial(8) * stored_lines(*c.module, c.type(product.results.at(0)));
  const ValueId matrix = product.operands.at(1);
  cost.read += c.entries(matrix) * Polynomial(4 + c.type(matrix).element.bytes());
}

void add_product(const CostContext& c, const Op& product, Cost& cost) {
  cost.read += c.entries(product.operands.at(1)) * point_bytes(c, product.operands.at(0));
  cost.written += bytes_of_lines(c, product.results.at(0));
}

// The matrix is cut along its rows, and each element of it is read once for all of `products`. Vectors over its columns
// are shared, read whole (and cost nothing) or made whole. `handed_on`: the results that are written.
Cost dense_products_cost(const CostContext& c, std::span<const Op> products, const std::vector<ValueId>& handed_on) {
  const ValueId matrix = products[0].operands.at(1);
  const auto masters = [&](ValueId v) { return master_indices(*c.module, c.type(v)) * element_bytes(c, v); };
  Cost cost;
  cost.read = matrix_bytes(c, matrix);
  for (const Op& op : products) {
    const ValueId vector = op.operands.at(0), result = op.results.at(0);
    const bool along = is_distributed_array(*c.module, vector) && !reads_whole(*c.module, op, 0);
    if (along && !c.type(vector).compressed) cost.read += masters(vector);
    if (!is_distributed_array(*c.module, result)) continue;
    const Polynomial once = makes_whole(*c.module, op) ? stored_bytes(c, result) : masters(result);
    cost.written += once * Polynomial(std::count(handed_on.begin(), handed_on.end(), result));
  }
  return cost;
}

Cost actual_product(const CostContext& c, const Op& op) {
  if (is_dense_product(*c.module, op)) return dense_products_cost(c, {&op, 1}, op.results);
  Cost cost;
  add_index_reads(c, op, cost);
  add_product(c, op, cost);
  return cost;
}

// Folds, alone or with products: each nonzero reads the elements at its index of the other axis, each row of a result
// the elements at that row, each once for all that read them there. Sparse values are found by the number of each
// nonzero. `handed_on`: the results that are written.
Cost entry_pass_cost(const CostContext& c, std::span<const Op> ops, const std::vector<ValueId>& handed_on) {
  Cost cost;
  const ValueId matrix = product_matrix(ops[0]);
  const Polynomial rows = met_lines(*c.module, c.type(matrix), c.type(along_value(ops[0]))),
                   entries = c.entries(matrix);
  const std::int64_t number = numbers_entries(*c.module, ops) ? 4 : 0;
  cost.read = Polynomial(8) * rows + entries * Polynomial(4 + number + c.type(matrix).element.bytes());
  for (const EntryPass::Operand& operand : entry_operands(*c.module, ops)) {
    if (operand.side == EntrySide::shared) continue;
    cost.read += (operand.at_each() ? entries : rows) * point_bytes(c, operand.value);
  }
  for (const ValueId result : handed_on) cost.written += bytes_of_lines(c, result);
  return cost;
}

Cost actual_fold(const CostContext& c, const Op& op) { return entry_pass_cost(c, {&op, 1}, op.results); }

// Of align, the place of each nonzero, and the values that are aligned. What meet reads whole is charged with shareds.
Cost actual_join(const CostContext& c, const Op& op) {
  Cost cost;
  cost.written = stored_bytes(c, op.results.at(0));
  if (op.code == OpCode::meet) {
    cost.read = master_indices(*c.module, c.type(op.operands.at(0))) * element_bytes(c, op.operands[0]);
    return cost;
  }
  const std::int64_t value = c.type(op.operands.back()).element.bytes();
  cost.read = c.entries(op.operands.at(0)) * Polynomial(4) + c.entries(op.operands.at(1)) * Polynomial(value);
  return cost;
}

Cost actual_transition(const CostContext& c, const Op& op) {
  Cost cost = transition_network(c, op);
  const ValueId from = op.operands.at(0), to = op.results.at(0);
  if (is_free(c, from) || same_buffer(c, from, to)) return cost;
  cost.read = master_indices(*c.module, c.type(from)) * element_bytes(c, from);
  cost.written = cost.read;
  return cost;
}

Cost actual_list(const CostContext& c, const Op& op) {
  Cost cost;
  const ValueId list = op.results.at(0);
  if (is_free(c, list)) return cost;
  cost.read = stored_bytes(c, op.operands.at(0));
  cost.written = stored_bytes(c, list) * Polynomial(c.type(list).list);
  return cost;
}

Cost actual_nothing(const CostContext&, const Op&) { return {}; }

constexpr std::array actual_rules{
#define OP_COST(code, model, actual) CostRule{OpCode::code, actual_##actual},
#include "libopt/cost/operators.def"
#undef OP_COST
};
static_assert(is_complete(actual_rules));  // each operator, in its order

}  // namespace

Polynomial computed_indices(const CostContext& c, const Op& op) {
  const Module& module = *c.module;
  const Type& result = c.type(op.results.at(0));
  const bool reduces = op.code == OpCode::reduce || is_grouping(op);
  if (reduces && (Layout(module, result).is_shared() || makes_whole(module, op))) {
    const Type& from = c.type(op.operands.at(is_grouping(op) ? walked_operand(module, op) : 0));
    return from.state.is_pre() ? stored_indices(module, from) : master_indices(module, from);
  }
  if (result.state.is_pre() && by_pushdown(c, op)) return master_indices(module, result);
  return stored_indices(module, result);
}

// Each operand over the range of the operators inside that use it, each result over the range that is stored.
Cost actual_iter_on_vec(const CostContext& c, const Op& region) {
  Cost cost;
  cost.read = bytes_of_views(c, region);
  const Block& block = region.blocks.at(0);
  for (const ValueId value : uncompressed(c, region.operands)) {
    cost.read += widest_use(c, block, value) * element_bytes(c, value);
  }
  for (const ValueId result : region.results) {
    if (is_distributed_array(*c.module, result)) cost.written += stored_bytes(c, result);
  }
  return cost;
}

// Pointers, indices and values once for all products. A result that is handed on twice is written twice.
Cost actual_mxm(const CostContext& c, const Op& region) {
  Cost cost;
  const std::vector<Op>& ops = region.blocks.at(0).ops;
  if (holds_fold(region)) return entry_pass_cost(c, entry_operators(region), ops.back().operands);
  if (is_dense_product(*c.module, ops.at(0))) {
    return dense_products_cost(c, std::span(ops).first(ops.size() - 1), ops.back().operands);
  }
  add_index_reads(c, ops.at(0), cost);
  for (size_t i = 0; i + 1 < ops.size(); ++i) {
    cost.read += c.entries(ops[i].operands.at(1)) * point_bytes(c, ops[i].operands.at(0));
  }
  for (const ValueId result : region.results) cost.written += bytes_of_lines(c, result);
  return cost;
}

// Of the product's result, only elements to which others contribute, or contributed to others, are ever in memory.
Cost actual_product_epilogue(const CostContext& c, const Op& region) {
  const Op& product = epilogue_product(region);
  const ValueId made = product.results.at(0);
  Cost cost = actual_iter_on_vec(c, region);
  add_index_reads(c, product, cost);
  cost.read += c.entries(product.operands.at(1)) * element_bytes(c, product.operands.at(0));
  const Polynomial waiting = waiting_rows(*c.module, c.type(made));
  cost.read += waiting * element_bytes(c, made);
  cost.written += (waiting + slave_indices(*c.module, c.type(made))) * element_bytes(c, made);
  cost += transition_network(c, epilogue_gather(region));
  return cost;
}

// The matrix once, each vector of rows from outside once for all its readers in the region, and the results handed on.
Cost actual_row_chain(const CostContext& c, const Op& region) {
  const ValueId matrix = product_matrix(region);
  const auto masters = [&](ValueId v) { return master_indices(*c.module, c.type(v)) * element_bytes(c, v); };
  const std::vector<Op>& ops = region.blocks.at(0).ops;
  Cost cost;
  cost.read = matrix_bytes(c, matrix);
  std::vector<ValueId> rows, whole;
  for (size_t i = 0; i + 1 < ops.size(); ++i) {
    for (size_t k = is_view(ops[i]) ? 1 : 0; k < ops[i].operands.size(); ++k) {
      const ValueId v = ops[i].operands[k];
      if (v != matrix && contains(region.operands, v) && !reads_whole(*c.module, ops[i], k)) rows.push_back(v);
    }
    if (makes_whole(*c.module, ops[i])) whole.push_back(ops[i].results.at(0));
  }
  for (const ValueId v : uncompressed(c, rows)) cost.read += masters(v);
  cost.read += bytes_of_views(c, region);
  for (const ValueId v : ops.back().operands) {
    if (is_distributed_array(*c.module, v)) cost.written += contains(whole, v) ? stored_bytes(c, v) : masters(v);
  }
  return cost;
}

// The nonzeros of a region's sparse matrix once, and what their columns bring to each operator.
Polynomial bytes_of_nonzeros(const CostContext& c, const Op& region, DimId rows) {
  const ValueId matrix = sparse_rows(*c.module, region);
  if (matrix == no_value) return {};
  Polynomial entry((numbers_nonzeros(*c.module, region) ? 8 : 4) + c.type(matrix).element.bytes());
  for (const Op& op : region.blocks.at(0).ops) {
    if (!visits_entries(*c.module, op) || op.code == OpCode::mxv) continue;
    const Op met = op.code == OpCode::fold_cols ? entries_of_fold(op) : op;
    for (const EntryPass::Operand& operand : entry_operands(*c.module, {&met, 1}))
      if (operand.across) entry += point_bytes(c, operand.value);
  }
  Type along;
  along.dims = {rows};
  return Polynomial(8) * master_indices(*c.module, along) + c.entries(matrix) * entry;
}

// Each array of rows from outside once, the elements that views show of such arrays, and the results.
Cost actual_rows(const CostContext& c, const Op& region) {
  const DimId dim = worked_rows(*c.module, region.blocks.at(0).ops.at(0));
  const auto masters = [&](ValueId v) { return master_indices(*c.module, c.type(v)) * element_bytes(c, v); };
  Cost cost;
  cost.read = bytes_of_views(c, region) + bytes_of_nonzeros(c, region, dim);
  std::vector<ValueId> rows;
  std::set<ValueId> totals;
  for (const Op& op : region.blocks.at(0).ops) {
    if (op.code == OpCode::yield) continue;
    if (is_total(op, dim)) totals.insert(op.results.at(0));
    for (size_t k = is_view(op) ? 1 : 0; k < op.operands.size(); ++k) {
      const ValueId v = op.operands[k];
      if (contains(region.operands, v) && !reads_whole(*c.module, op, k)) rows.push_back(v);
    }
  }
  for (const ValueId v : uncompressed(c, rows)) cost.read += masters(v);
  for (const ValueId v : region.blocks.at(0).ops.back().operands) {
    if (is_distributed_array(*c.module, v)) cost.written += totals.contains(v) ? stored_bytes(c, v) : masters(v);
  }
  return cost;
}

Cost actual_cost(const CostContext& context, const Op& op) {
  if (context.boxes) return context.boxes->actual(op);
  Cost cost = actual_rules.at(static_cast<std::size_t>(op.code)).cost(context, op);
  const OpGroup group = row(op.code).group;
  const bool reads = group == OpGroup::vector || group == OpGroup::product || op.code == OpCode::region;
  if (reads) cost.read += compressed_bytes(context, op);
  const SharedTraffic shareds = shared_traffic(*context.module, op);
  for (const ValueId v : shareds.read) cost.read += bytes_everywhere(context, v);
  for (const ValueId v : shareds.written) cost.written += bytes_everywhere(context, v);
  return cost;
}

Polynomial stored_bytes(const CostContext& c, ValueId value) {
  if (c.boxes) return c.boxes->stored(value) * Polynomial(c.type(value).element.bytes());
  return stored_indices(*c.module, c.type(value)) * element_bytes(c, value);
}

}  // namespace kasen
