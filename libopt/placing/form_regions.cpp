#include "libopt/placing/form_regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "libcore/analysis/boxes.h"
#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/blocks/grid.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/derived_dims.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/observed.h"
#include "libcore/ir/products.h"

namespace kasen::placing {
namespace {

using Counts = std::map<DimId, std::int64_t>;

// Blocks of dimensions by the user's word.
Counts wanted_blocks(const Module& module, const std::vector<GridHint>& hints) {
  Counts wanted;
  for (const GridHint& hint : hints) {
    ValueId array = no_value;
    for (const Op& op : module.body.ops) {
      if (op.code == OpCode::input && op.name == hint.array) array = op.results[0];
      if (op.code == OpCode::output && op.name == hint.array) array = op.operands[0];
    }
    if (array == no_value) {
      fail(ExitStatus::usage, fmt::format("--grid: there is no input or output '{}'", hint.array), "",
           "check its name");
    }
    const std::vector<DimId>& dims = module.type(array).dims;
    if (dims.size() != hint.blocks.size()) {
      fail(ExitStatus::usage, fmt::format("--grid: '{}' has {} dimensions", hint.array, dims.size()),
           fmt::format("the grid has {}", hint.blocks.size()), "write a number of blocks for each: X=4x1");
    }
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      const auto [it, fresh] = wanted.emplace(dims[axis], hint.blocks[axis]);
      if (fresh || it->second == hint.blocks[axis]) continue;
      fail(ExitStatus::usage,
           fmt::format("--grid: {} is cut into {} and into {} blocks", module.dim(dims[axis]).name, it->second,
                       hint.blocks[axis]),
           "arrays over one dimension have the same blocks along it", "take one of the numbers");
    }
  }
  return wanted;
}

class Former {
 public:
  Former(Module& module, const std::vector<GridHint>& hints, OutsideTypes& outside)
      : m_(module), wanted_(wanted_blocks(module, hints)), outside_(outside) {}

  bool run() {
    count_uses(m_.body);
    block(m_.body);
    return made_;
  }

 private:
  void count_uses(const Block& block) {
    uses_.resize(m_.values.size(), 0);
    for (const Op& op : block.ops) {
      for (const ValueId v : op.operands) ++uses_[v];
      for (const Block& inner : op.blocks) count_uses(inner);
    }
  }

  // Sizes of blocks are known before the run, and tiles of workers lie where they are made.
  [[nodiscard]] bool has_blocks(ValueId v) const {
    const std::vector<DimId>& dims = m_.type(v).dims;
    return std::none_of(dims.begin(), dims.end(),
                        [&](DimId d) { return follows_observed(m_.dims, d) || depends_on_workers(m_.dims, d); });
  }

  [[nodiscard]] bool joins(const Op& op) const {
    const bool moves = op.code == OpCode::relayout && !rearranges_on_the_way(op);
    if (!moves && !may_work_on_blocks(m_, op)) return false;
    const auto is_array = [&](ValueId v) { return !m_.type(v).dims.empty(); };
    const auto fits = [&](ValueId v) { return has_blocks(v); };
    return std::any_of(op.operands.begin(), op.operands.end(), is_array) &&
           std::all_of(op.operands.begin(), op.operands.end(), fits) &&
           std::all_of(op.results.begin(), op.results.end(), fits);
  }

  // It needs nothing of a group, and may stand before it.
  static bool goes_ahead(const Op& op) { return row(op.code).group == OpGroup::source && op.operands.empty(); }

  void block(Block& b) {
    std::vector<Op> ops;
    std::vector<Op> group;
    const auto close = [&] {
      add_group(ops, group);
      group.clear();
    };
    for (Op& op : b.ops) {
      for (Block& inner : op.blocks) block(inner);
      if (joins(op)) {
        group.push_back(std::move(op));
      } else if (goes_ahead(op)) {
        ops.push_back(std::move(op));
      } else {
        close();
        ops.push_back(std::move(op));
      }
    }
    close();
    b.ops = std::move(ops);
  }

  // Work whose operands lie alike needs no region: it sends nothing.
  [[nodiscard]] bool sends(const std::vector<Op>& group) const {
    return std::any_of(group.begin(), group.end(), [&](const Op& op) {
      const bool reduces = op.code == OpCode::reduce && Layout(m_, op.operands[0]).is_distributed();
      const bool contracts =
          is_contraction(m_, op) && std::any_of(op.operands.begin(), op.operands.end(),
                                                [&](ValueId v) { return Layout(m_, v).is_distributed(); });
      return reduces || contracts;
    });
  }

  void add_group(std::vector<Op>& ops, std::vector<Op>& group) {
    if (!sends(group)) {
      for (Op& op : group) ops.push_back(std::move(op));
      return;
    }
    Op region = region_of(group, ops);
    ops.push_back(std::move(region));
    made_ = true;
  }

  // ---- one region

  // As the mesh cuts some array, and most finely. Blocks that are dealt out cyclically are blocks here, too.
  [[nodiscard]] GridCut usual_blocks(const std::vector<Op>& group, DimId dim) const {
    GridCut most{dim, 1, 0};
    const auto look = [&](ValueId v) {
      const Type& type = m_.type(v);
      for (std::size_t axis = 0; axis < type.cuts.size(); ++axis) {
        if (type.dims[axis] != dim) continue;
        const AxisCut& cut = type.cuts[axis];
        if (cut.block > 0) most = {dim, 0, most.count > 0 ? cut.block : std::min(most.size, cut.block)};
        if (most.count == 0) continue;
        std::int64_t places = 1;
        for (std::size_t a = 0; a < m_.mesh.size(); ++a) {
          if ((cut.axes >> a & 1U) != 0) places = checked_mul(places, m_.mesh[a].size, "a number of blocks");
        }
        most.count = std::max(most.count, places);
      }
    };
    for (const Op& op : group) {
      for (const ValueId v : op.operands) look(v);
      for (const ValueId v : op.results) look(v);
    }
    return most;
  }

  void add_grid(Op& region, const std::vector<Op>& group) const {
    std::set<DimId> dims;
    for (const Op& op : group) {
      for (const ValueId v : op.operands) dims.insert(m_.type(v).dims.begin(), m_.type(v).dims.end());
      for (const ValueId v : op.results) dims.insert(m_.type(v).dims.begin(), m_.type(v).dims.end());
    }
    for (const DimId dim : dims) {
      const auto hint = wanted_.find(dim);
      GridCut cut = hint == wanted_.end() ? usual_blocks(group, dim) : GridCut{dim, hint->second, 0};
      if (const std::int64_t size = m_.dim(dim).size; size >= 1) cut.count = std::min(cut.count, size);
      if (cut.count != 1) region.grid.push_back(cut);
    }
  }

  ValueId add_inside(ValueId outside) {
    Type type = m_.type(outside);
    type.cuts.assign(type.dims.size(), AxisCut{});
    const ValueId inside = m_.add_value(m_.value(outside).name + "_b", type);
    outside_.emplace(inside, m_.type(outside));
    return inside;
  }

  Op region_of(std::vector<Op>& group, std::vector<Op>& before) {
    Op region;
    region.code = OpCode::region;
    region.kind = RegionKind::blocks;
    region.where = group.front().where;
    region.blocks.resize(1);
    add_grid(region, group);
    std::map<ValueId, ValueId> inside;
    std::map<ValueId, int> uses;  // inside
    const auto now = [&](ValueId v) {
      ++uses[v];
      const auto [it, fresh] = inside.emplace(v, no_value);
      if (fresh) {
        it->second = add_inside(v);
        region.operands.push_back(v);
        region.blocks[0].args.push_back(it->second);
      }
      return it->second;
    };
    std::vector<ValueId> made;
    for (Op& op : group) {
      for (ValueId& v : op.operands) v = now(v);
      const ValueId result = op.results.at(0);
      made.push_back(result);
      if (op.code == OpCode::relayout) {  // of whole arrays: the same one
        inside[result] = op.operands[0];
        if (contains(region.blocks[0].args, op.operands[0]) && is_relaid_outside(result, group)) {
          op.operands[0] = region.operands[place_of(region.blocks[0].args, op.operands[0])];
          made.pop_back();
          before.push_back(std::move(op));
        }
        continue;
      }
      op.results[0] = inside[result] = add_inside(result);
      region.blocks[0].ops.push_back(std::move(op));
    }
    hand_on(region, made, inside, uses);
    return region;
  }

  [[nodiscard]] static std::size_t place_of(const std::vector<ValueId>& values, ValueId v) {
    return static_cast<std::size_t>(std::find(values.begin(), values.end(), v) - values.begin());
  }

  // True if operators behind the group read the value.
  [[nodiscard]] bool is_relaid_outside(ValueId value, const std::vector<Op>& group) const {
    std::ptrdiff_t here = 0;
    for (const Op& op : group) here += std::count(op.operands.begin(), op.operands.end(), value);
    return uses_[value] > here;
  }

  void hand_on(Op& region, const std::vector<ValueId>& made, const std::map<ValueId, ValueId>& inside,
               const std::map<ValueId, int>& uses) {
    Op yield;
    yield.code = OpCode::yield;
    yield.where = region.where;
    for (const ValueId v : made) {
      const auto here = uses.find(v);
      if (uses_[v] == (here == uses.end() ? 0 : here->second)) continue;
      region.results.push_back(v);
      yield.operands.push_back(inside.at(v));
    }
    region.blocks[0].ops.push_back(std::move(yield));
  }

  Module& m_;
  const Counts wanted_;
  OutsideTypes& outside_;
  IdMap<ValueId, int> uses_;  // of the values that were there in the beginning
  bool made_ = false;
};

}  // namespace

bool form_regions(Module& module, const std::vector<GridHint>& hints, OutsideTypes& outside) {
  return Former(module, hints, outside).run();
}

}  // namespace kasen::placing
