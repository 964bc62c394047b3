#include "libopt/rewrite/regions.h"

#include <algorithm>
#include <array>

#include "libcore/analysis/chain_rules.h"
#include "libcore/analysis/state_rules.h"
#include "libcore/analysis/whole.h"
#include "libcore/base/error.h"
#include "libcore/ir/array_views.h"
#include "libcore/ir/products.h"
#include "libopt/rewrite/rewrite.h"

namespace kasen {
namespace {

// Returns the ghosts over which a pre-reduced or consistent value makes an operator run; nothing for owned elements
// alone.
std::optional<SlaveSet> range_of(const State& state) {
  if (state.is_part()) return std::nullopt;
  return state.slaves;
}

std::optional<RegionKey> map_key(const Module& module, const Op& op) {
  const Type& type = module.type(op.results[0]);
  if (is_shared(module, type) || !type.state.placed()) return std::nullopt;
  const LawUse* law = law_in_force(module, op);
  if (type.state.is_pre() && law == nullptr) return std::nullopt;
  RegionKey key{type.dims, range_of(type.state)};
  key.hands_on = type.state.is_pre() && law->kind == LawKind::pushdown;
  return key;
}

// The key of reductions of all elements to one. Reductions over some dimensions have another shape and stand alone.
std::optional<RegionKey> reduce_key(const Module& module, const Op& op) {
  const Type& type = module.type(op.operands[0]);
  if (is_shared(module, type) || !module.type(op.results[0]).dims.empty()) return std::nullopt;
  const bool slaves_count = type.state.is_pre();
  return RegionKey{type.dims, slaves_count ? range_of(type.state) : std::nullopt};
}

// A slice is read where its array lies. (A distributed matrix is transposed by itself.)
std::optional<RegionKey> slice_key(const Module& module, const Op& op) {
  const Type& type = module.type(op.results[0]);
  if (is_shared(module, type) || !type.state.placed()) return std::nullopt;
  return RegionKey{type.dims, range_of(type.state)};
}

std::optional<RegionKey> vector_key(const Module& module, const Op& op) {
  if (is_slice(op)) return slice_key(module, op);
  if (op.code == OpCode::map) return map_key(module, op);
  if (op.code == OpCode::reduce) return reduce_key(module, op);
  return std::nullopt;
}

// A stored matrix has a form for each direction and space of its operands; one pass over a dense one serves both.
std::optional<RegionKey> product_key(const Module& module, const Op& op) {
  if (!is_product(op) || has_columns(module, op)) return std::nullopt;
  if (is_dense_product(module, op)) {
    if (!shares_dense_pass(module, op)) return std::nullopt;
    return RegionKey{{}, std::nullopt, op.operands[1]};
  }
  const State& state = module.type(op.operands[0]).state;
  if (!state.is_cons()) return std::nullopt;
  return RegionKey{{}, state.slaves, op.operands[1], op.code};
}

// Returns the position of `key` in `keys`; appends it if it is not there.
template <class Key>
int number_of(std::vector<Key>& keys, const Key& key) {
  const auto at = std::find(keys.begin(), keys.end(), key);
  const auto number = static_cast<int>(at - keys.begin());
  if (at == keys.end()) keys.push_back(key);
  return number;
}

// Keys and ranges are numbered in the order in which they appear.
ClusterRules rules_of(const Module& module, const Block& block, const RegionTemplate& shape) {
  std::vector<RegionKey> kinds;
  std::vector<SlaveSet> ranges;
  ClusterRules rules;
  rules.inside = shape.inside;
  for (const Op& op : block.ops) {
    std::optional<RegionKey> key = shape.key(module, op);
    rules.ranges.push_back(key && key->slaves ? number_of(ranges, *key->slaves) : -1);
    rules.hands_on.push_back(key && key->hands_on);
    if (key) key->slaves.reset();
    if (key) key->hands_on = false;
    rules.kinds.push_back(key ? number_of(kinds, *key) : -1);
  }
  return rules;
}

// Clusters the operators of every block into maximal regions of this kind.
bool draw_together(Module& module, const RegionTemplate& shape) {
  bool changed = false;
  for_each_block(module, [&](Block& block) {
    std::vector<Cluster> clusters;
    for (std::vector<int>& members : cluster(BlockGraph(module, block), rules_of(module, block, shape))) {
      clusters.push_back({shape.kind, std::move(members)});
    }
    changed = changed || !clusters.empty();
    make_regions(module, block, clusters);
  });
  return changed;
}

// Returns true if all have one key, and none needs another's result where members may not.
bool is_drawn_together(const Module& module, const RegionTemplate& shape, std::span<const Op* const> members) {
  std::optional<RegionKey> first;
  std::vector<ValueId> made;
  for (const Op* op : members) {
    const std::optional<RegionKey> key = shape.key(module, *op);
    if (!key || key->hands_on || (first && *key != *first)) return false;
    const auto is_made = [&](ValueId v) { return contains(made, v); };
    if (!shape.inside && std::any_of(op->operands.begin(), op->operands.end(), is_made)) return false;
    made.insert(made.end(), op->results.begin(), op->results.end());
    first = key;
  }
  return true;
}

// Returns true for products with one dense matrix and work on its rows (verify/regions.cpp, row_chain).
bool is_chain(const Module& module, std::span<const Op* const> members) {
  const auto product = std::find_if(members.begin(), members.end(), [](const Op* op) { return is_product(*op); });
  if (product == members.end()) return false;
  const ValueId matrix = product_matrix(**product);
  const DimId rows = module.type(matrix).dims.at(0);
  return std::all_of(members.begin(), members.end(), [&](const Op* op) {
    return is_product(*op) ? product_matrix(*op) == matrix && may_stand_in_chain(module, *op)
                           : may_follow_chain(module, *op, rows, matrix);
  });
}

constexpr auto vector_shape = RegionTemplate{RegionKind::iter_on_vec, draw_together, true, vector_key};
constexpr auto product_shape = RegionTemplate{RegionKind::mxm, draw_together, false, product_key};
constexpr auto epilogue_shape = RegionTemplate{RegionKind::product_epilogue, join_epilogues, true, vector_key};
constexpr auto chain_shape = RegionTemplate{RegionKind::row_chain, join_chains, true, vector_key};
constexpr std::array templates{vector_shape, product_shape, epilogue_shape, chain_shape};

}  // namespace

std::span<const RegionTemplate> region_templates() { return templates; }

const RegionTemplate& region_template(RegionKind kind) {
  for (const RegionTemplate& shape : templates) {
    if (shape.kind == kind) return shape;
  }
  throw InternalError("no such region template");
}

bool form_regions(Module& module, RegionKind kind) {
  const RegionTemplate& shape = region_template(kind);
  return shape.form(module, shape);
}

void make_regions(Module& module, Block& block, const std::vector<Cluster>& clusters) {
  if (clusters.empty()) return;
  std::vector<std::vector<int>> drawn;
  for (const Cluster& cluster : clusters) drawn.push_back(cluster.members);
  const std::vector<int> order = contracted_order(BlockGraph(module, block), drawn);
  const std::vector<int> uses = count_uses(module);
  std::vector<Op> regions;
  for (const Cluster& cluster : clusters) {
    std::vector<Op> members;
    for (const int member : cluster.members) members.push_back(std::move(block.ops[static_cast<size_t>(member)]));
    if (cluster.kind == RegionKind::row_chain) begin_with_rows(members);
    regions.push_back(make_region(module, std::move(members), cluster.kind, uses));
  }
  std::vector<Op> ops;
  for (const int at : order) {
    Op& op = at >= 0 ? block.ops[static_cast<size_t>(at)] : regions[static_cast<size_t>(-1 - at)];
    ops.push_back(std::move(op));
  }
  block.ops = std::move(ops);
  name_results(module, block);
  module.level = 3;
}

std::optional<RegionKind> kind_of_region(const Module& module, std::span<const Op* const> members) {
  for (const RegionTemplate& shape : {vector_shape, product_shape}) {
    if (is_drawn_together(module, shape, members)) return shape.kind;
  }
  return is_chain(module, members) ? std::optional(RegionKind::row_chain) : std::nullopt;
}

void begin_with_rows(std::vector<Op>& members) {
  const auto inner = std::find_if(members.begin(), members.end(), [](const Op& op) { return op.code == OpCode::mxvt; });
  if (inner != members.end()) std::rotate(members.begin(), inner, inner + 1);
}

// Only products read the matrix, from memory.
bool may_follow_chain(const Module& module, const Op& op, DimId rows, ValueId matrix) {
  if (contains(op.operands, matrix) || contains(op.results, matrix)) return false;
  const bool reduces = op.code == OpCode::reduce;
  if (!reduces && op.code != OpCode::map && !is_slice(op)) return false;
  const Type& along = module.type(reduces ? op.operands[0] : op.results[0]);
  const bool on_masters = reduces ? !along.state.is_pre() : along.state.is_part();
  return on_masters && cut_dim(module, along) == rows && !makes_whole(module, op) &&
         follows_chain_rows(module, op, rows);
}

bool follows_rows(const Module& module, const RegionTemplate& shape, const Op& op, const std::vector<DimId>& rows) {
  const bool region = op.code == OpCode::region && op.kind == RegionKind::iter_on_vec;
  if (op.code == OpCode::region && !region) return false;
  const std::span<const Op> ops =
      region ? std::span(op.blocks[0].ops).first(op.blocks[0].ops.size() - 1) : std::span<const Op>(&op, 1);
  return std::all_of(ops.begin(), ops.end(), [&](const Op& inner) {
    const std::optional<RegionKey> key = shape.key(module, inner);
    const auto vector = [&](ValueId v) { return module.type(v).dims.empty() || module.type(v).dims == rows; };
    return key && !key->slaves && key->dims == rows && rows.size() == 1 &&
           std::all_of(inner.operands.begin(), inner.operands.end(), vector);
  });
}

Op make_region(const Module& module, std::vector<Op> members, RegionKind kind, std::vector<int> uses) {
  Op region;
  region.code = OpCode::region;
  region.kind = kind;
  region.where = members.front().where;
  region.blocks.resize(1);
  std::vector<ValueId> made;
  for (Op& op : members) {
    for (const ValueId operand : op.operands) {
      --uses[static_cast<size_t>(operand)];
      if (!contains(made, operand) && !contains(region.operands, operand)) region.operands.push_back(operand);
    }
    made.insert(made.end(), op.results.begin(), op.results.end());
    region.blocks[0].ops.push_back(std::move(op));
  }
  Op yield;
  yield.code = OpCode::yield;
  yield.where = region.where;
  for (const ValueId value : made) {
    if (uses[static_cast<size_t>(value)] > 0) yield.operands.push_back(value);
  }
  if (yield.operands.empty()) throw InternalError("a region of dead operators in " + module.name);
  region.results = yield.operands;
  region.blocks[0].ops.push_back(std::move(yield));
  return region;
}

// Handles all regions in one walk over the block. A value that a region makes keeps its name inside, and gets a new one
// for all others.
void name_results(Module& module, Block& block) {
  std::vector<ValueId> with(module.values.size(), no_value);
  std::vector<const Op*> maker(module.values.size(), nullptr);
  for (Op& region : block.ops) {
    if (region.code != OpCode::region || region.results != region.blocks[0].ops.back().operands) continue;
    for (ValueId& result : region.results) {
      const ValueId inner = result;
      result = module.add_value(module.value(inner).name, module.type(inner));
      std::swap(module.value(result).name, module.value(inner).name);
      with[static_cast<size_t>(inner)] = result;
      maker[static_cast<size_t>(inner)] = &region;
    }
  }
  for (Op& op : block.ops) {
    for_each_operand(op, [&](ValueId& value) {
      const auto v = static_cast<size_t>(value);
      if (with[v] != no_value && maker[v] != &op) value = with[v];
    });
  }
}

}  // namespace kasen
