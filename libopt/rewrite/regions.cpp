#include "libopt/rewrite/regions.h"

#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/ir/regions.h"
#include "libopt/rewrite/dependence.h"
#include "libopt/rewrite/rewrite.h"
#include "libopt/rewrite/value_names.h"

namespace kasen {
namespace {

// A product_epilogue is its vector work, in the same place and with the same results, that a product now precedes.
bool follows_product(const Cluster& cluster) { return cluster.kind == RegionKind::product_epilogue; }

// For values that a region yields: its result.
using Results = std::vector<ValueId>;

// The values that regions among the members yield get the names of the results, and stand for these everywhere. Returns
// the results that the new region has again.
Results open_regions(Module& module, Block& block, const std::vector<Cluster>& clusters) {
  Results kept(module.values.size(), no_value), with = kept;
  std::vector<bool> named(module.values.size());
  for (const Cluster& cluster : clusters) {
    for (const int member : cluster.members) {
      const Op& region = block.ops[static_cast<size_t>(member)];
      if (region.code != OpCode::region) continue;
      for (size_t r = 0; r < region.results.size(); ++r) {
        const ValueId result = region.results[r], inner = region.blocks[0].ops.back().operands[r];
        with[static_cast<size_t>(result)] = inner;
        if (named[static_cast<size_t>(inner)]) continue;
        named[static_cast<size_t>(inner)] = true;
        std::swap(module.value(result).name, module.value(inner).name);
        if (follows_product(cluster)) kept[static_cast<size_t>(inner)] = result;
      }
    }
  }
  replace_uses(block, with);
  return kept;
}

// A row_chain's first product along the rows stands first: it needs nothing from inside.
void begin_with_rows(std::vector<Op>& members) {
  const auto inner = std::find_if(members.begin(), members.end(), [](const Op& op) { return op.code == OpCode::mxvt; });
  if (inner != members.end()) std::rotate(members.begin(), inner, inner + 1);
}

// Takes the operators of a cluster out of the block. Regions among them and their yields no longer use anything.
std::vector<Op> taken(Block& block, const Cluster& cluster, std::vector<int>& uses) {
  std::vector<Op> members;
  for (const int member : cluster.members) {
    Op op = std::move(block.ops[static_cast<size_t>(member)]);
    if (op.code != OpCode::region) {
      members.push_back(std::move(op));
      continue;
    }
    std::vector<Op>& ops = op.blocks[0].ops;
    for (const Op* gone : {&op, &ops.back()}) {
      for (const ValueId value : gone->operands) --uses[static_cast<size_t>(value)];
    }
    std::move(ops.begin(), ops.end() - 1, std::back_inserter(members));
  }
  return members;
}

// `uses` counts the uses of every value in the whole module, and does so again behind it. The results are the yielded
// values: name_results makes values of their own of them.
Op make_region(const Module& module, std::vector<Op> members, RegionKind kind, std::vector<int>& uses) {
  Op region;
  region.code = OpCode::region;
  region.kind = kind;
  if (is_row_chain(region)) begin_with_rows(members);
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
  for (const Op& op : region.blocks[0].ops) {
    for (const ValueId operand : op.operands) ++uses[static_cast<size_t>(operand)];
  }
  region.blocks[0].ops.push_back(std::move(yield));
  return region;
}

// Handles all regions in one walk over the block. The result of a region takes the name of the value that it yields,
// and this one gets a new name.
void name_results(ValueNames& names, Block& block, const Results& kept) {
  Module& module = names.module();
  std::vector<ValueId> with(module.values.size(), no_value);
  std::vector<const Op*> maker(module.values.size(), nullptr);
  for (Op& region : block.ops) {
    if (region.code != OpCode::region || region.results != region.blocks[0].ops.back().operands) continue;
    for (ValueId& result : region.results) {
      const ValueId inner = result;
      result = kept[static_cast<size_t>(inner)];
      if (result == no_value) result = names.add(module.value(inner).name, module.type(inner));
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

}  // namespace

std::span<const Op> operators_of(const Op& op) {
  if (op.code != OpCode::region) return {&op, 1};
  return std::span<const Op>(op.blocks[0].ops).first(op.blocks[0].ops.size() - 1);
}

void make_regions(ValueNames& names, Block& block, const std::vector<Cluster>& clusters) {
  if (clusters.empty()) return;
  Module& module = names.module();
  std::vector<std::vector<int>> drawn;
  for (const Cluster& cluster : clusters) {
    drawn.push_back(cluster.members);
    if (follows_product(cluster)) std::swap(drawn.back().front(), drawn.back().back());
  }
  const std::vector<int> order = contracted_order(BlockGraph(module, block), drawn);
  const Results kept = open_regions(module, block, clusters);
  std::vector<int> uses = count_uses(module);
  std::vector<Op> regions;
  for (const Cluster& cluster : clusters) {
    const Op& last = block.ops[static_cast<size_t>(cluster.members.back())];
    const bool keeps_yield = follows_product(cluster) && last.code == OpCode::region;
    const Location yield = keeps_yield ? last.blocks[0].ops.back().where : Location{};
    std::vector<Op> members = taken(block, cluster, uses);
    regions.push_back(make_region(module, std::move(members), cluster.kind, uses));
    if (keeps_yield) regions.back().blocks[0].ops.back().where = yield;
  }
  std::vector<Op> ops;
  for (const int at : order) {
    Op& op = at >= 0 ? block.ops[static_cast<size_t>(at)] : regions[static_cast<size_t>(-1 - at)];
    ops.push_back(std::move(op));
  }
  block.ops = std::move(ops);
  name_results(names, block, kept);
  module.level = 3;
}

bool form_regions(Module& module, const std::function<ChooseClusters>& choose) {
  bool changed = false;
  ValueNames names(module);
  for_each_block(module, [&](Block& block) {
    for (std::vector<Cluster> next; !(next = choose(module, block)).empty(); changed = true) {
      make_regions(names, block, next);
    }
  });
  return changed;
}

}  // namespace kasen
