#include "libopt/layouts/cut_rules.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "libcore/analysis/boxes.h"
#include "libcore/analysis/mesh_rules.h"
#include "libcore/ir/array_views.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/layout.h"

namespace kasen {
namespace {

std::vector<std::size_t> free_axes(const Module& module, const std::vector<DimId>& dims) {
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (module.dim(dims[i]).is_workers()) return {i};
    if (!module.dim(dims[i]).local) free.push_back(i);
  }
  return free;
}

}  // namespace

Cuts usual_cuts(const Module& module, const std::vector<DimId>& dims) {
  const std::vector<std::size_t> free = free_axes(module, dims);
  if (free.empty()) return {};
  Cuts cuts(dims.size());
  for (std::size_t axis = 0; axis < mesh_rank(module); ++axis) {
    cuts[free[std::min(axis, free.size() - 1)]].axes |= MeshAxes{1} << axis;
  }
  return cuts;
}

std::vector<Cuts> possible_cuts(const Module& module, const std::vector<DimId>& dims) {
  const std::vector<std::size_t> free = free_axes(module, dims);
  if (free.empty()) return {};
  std::vector<Cuts> all{Cuts(dims.size())};
  for (std::size_t axis = 0; axis < mesh_rank(module); ++axis) {
    std::vector<Cuts> longer;
    for (const Cuts& cuts : all) {
      for (const std::size_t place : free) {
        longer.push_back(cuts);
        longer.back()[place].axes |= MeshAxes{1} << axis;
      }
    }
    all = std::move(longer);
  }
  std::rotate(all.begin(), std::find(all.begin(), all.end(), usual_cuts(module, dims)), all.end());
  return all;
}

std::string cuts_text(const Module& module, const std::vector<DimId>& dims, const Cuts& cuts) {
  std::string text;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    text += (i == 0 ? "" : ",") + module.dim(dims[i]).name;
    text += cut_text(module, cuts[i]);
  }
  return '[' + text + ']';
}

bool is_uncut(const Cuts& cuts) {
  return std::all_of(cuts.begin(), cuts.end(), [](AxisCut cut) { return cut.is_whole(); });
}

bool has_blocks(const Cuts& cuts) {
  return std::any_of(cuts.begin(), cuts.end(), [](AxisCut cut) { return cut.block != 0; });
}

CutChoices::CutChoices(const Module& module, const std::map<ValueId, Cuts>& asked) : module_(module) {
  for (const auto& [value, cuts] : asked) {
    const std::vector<DimId>& dims = module.type(value).dims;
    for (std::size_t axis = 0; axis < cuts.size(); ++axis) {
      Cuts& blocks = blocks_[dims[axis]];
      if (cuts[axis].block != 0 && !contains(blocks, cuts[axis])) blocks.push_back(cuts[axis]);
    }
  }
  for (const auto& [value, cuts] : asked) {
    const std::vector<DimId>& dims = module.type(value).dims;
    if (!contains(of(dims), cuts)) asked_[dims].push_back(cuts);
  }
}

// Those in blocks, of each array. The search compares each with each of another array.
constexpr std::size_t further_choices = 16;

// Each way to cut some of the dimensions in blocks that agree with those asked for over some axis; the first ones,
// where there are very many.
void CutChoices::add_blocks(const Cuts& cuts, const std::vector<DimId>& dims, std::size_t most,
                            std::vector<Cuts>& all) const {
  std::vector<Cuts> ways{cuts};
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const auto it = blocks_.find(dims[axis]);
    if (cuts[axis].is_whole() || it == blocks_.end()) continue;
    const std::size_t before = ways.size();
    std::set<std::int64_t> blocks;
    for (const AxisCut& asked : it->second) {
      if (axes_cut_alike({cuts[axis].axes, asked.block}, asked) != 0) blocks.insert(asked.block);
    }
    for (const std::int64_t block : blocks) {
      for (std::size_t i = 0; i < before; ++i) {
        ways.push_back(ways[i]);
        ways.back()[axis].block = block;
      }
    }
  }
  for (std::size_t i = 1; i < ways.size() && all.size() < most; ++i) all.push_back(std::move(ways[i]));
}

std::vector<Cuts> CutChoices::of(const std::vector<DimId>& dims) const {
  std::vector<Cuts> all = possible_cuts(module_, dims);
  const std::size_t possible = all.size(), most = possible + further_choices;
  for (std::size_t i = 0; i < possible && all.size() < most; ++i) add_blocks(Cuts(all[i]), dims, most, all);
  const auto it = asked_.find(dims);
  if (it != asked_.end() && !all.empty()) all.insert(all.end(), it->second.begin(), it->second.end());
  return all;
}

Cuts made_cuts(const Module& module, const Op& axis_op, Cuts wanted) {
  const AxisRange whole = whole_axes(module, axis_op);
  for (std::size_t axis = 0; axis < wanted.size(); ++axis) {
    if (whole.has(axis)) wanted[axis] = cut_over(wanted[axis], axes_of_one_place(module));
  }
  return wanted;
}

Cuts lines_in_runs(const Module& module, const Op& op, Cuts wanted) {
  const bool lines = op.code == OpCode::scan || op.code == OpCode::sort || op.code == OpCode::argsort;
  if (lines && !wanted.empty()) wanted.at(worked_place(module, op)).block = 0;
  return wanted;
}

namespace {

// Indices of dimensions before one that is cut, of those that a reshape works along: runs in the order of the product.
double runs_of_product(const Module& module, const Op& reshape) {
  const bool joins = !contains(module.type(reshape.operands.at(0)).dims, reshape.dim);
  const ValueId parts = joins ? reshape.operands[0] : reshape.results.at(0);
  const Layout layout(module, parts);
  const std::vector<DimId>& dims = module.type(parts).dims;
  double before = 1, runs = 1;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (!contains(reshape.over, dims[axis])) continue;
    const auto size = static_cast<double>(std::max<std::int64_t>(module.dim(dims[axis]).size, 1));
    const AxisCut cut = layout.cut_of(axis);
    if (!cut.is_whole()) runs = cut.block == 0 ? before : before * std::ceil(size / static_cast<double>(cut.block));
    before *= size;
  }
  return runs;
}

}  // namespace

bool goes_straight(const Module& module, const Op& op, std::size_t operand) {
  constexpr double most_runs = 1 << 12;  // each pair of workers compares them
  const Type& result = module.type(op.results.at(0));
  const MeshAxes alone = axes_of_one_place(module);
  if (!is_rearrangement(op) || (op.code == OpCode::pick && operand > 0) || result.cuts.empty() || is_uncut(result.cuts))
    return false;
  if (op.code == OpCode::reshape && runs_of_product(module, op) > most_runs) return false;
  const AxisRange whole = whole_axes(module, op);
  const bool everywhere = keeps_owners(module, op) && Layout(module, op.operands.at(operand)).is_shared();
  MeshAxes cut = 0;
  if (!everywhere) cut = needed_axes(module, op, operand, std::vector<State>(op.operands.size(), State::part()));
  for (std::size_t axis = 0; axis < result.dims.size(); ++axis) {
    if (whole.has(axis)) cut |= result.cuts[axis].axes;
  }
  return (cut & ~alone) != 0;
}

Cuts cuts_behind(const Module& module, const Op& reduction, const Cuts* wanted) {
  const bool groups = is_grouping(reduction);
  const Type& from = module.type(reduction.operands[groups ? walked_operand(module, reduction) : 0]);
  const Layout own(module, from);
  MeshAxes left = own.all_cuts();
  Cuts cuts;
  for (std::size_t axis = 0; axis < from.dims.size(); ++axis) {
    const bool reduced = reduction.over.empty() || contains(reduction.over, from.dims[axis]);
    if (groups && axis == key_place(module, reduction)) cuts.emplace_back();
    if (reduced) continue;
    cuts.push_back(own.cut_of(axis));
    left &= ~own.cuts(axis);
  }
  const std::vector<DimId>& dims = module.type(reduction.results[0]).dims;
  const auto fits = [&](std::size_t axis, AxisCut longer) {
    const bool comes_behind =
        (longer.axes & ~left) == cuts[axis].axes && axes_cut_alike(cuts[axis], longer) == cuts[axis].axes;
    return longer == cuts[axis] || (comes_behind && !module.dim(dims[axis]).local);
  };
  bool possible = wanted != nullptr && wanted->size() == cuts.size();
  for (std::size_t axis = 0; possible && axis < cuts.size(); ++axis) possible = fits(axis, (*wanted)[axis]);
  if (possible) return *wanted;
  for (std::size_t axis = 0; axis < cuts.size() && left != 0; ++axis) {
    const AxisCut longer{cuts[axis].axes | left, cuts[axis].block};
    if (!fits(axis, longer)) continue;
    cuts[axis] = longer;
    left = 0;
  }
  return cuts;
}

Cuts view_cuts(const Module& module, const Op& view) {
  const Layout own(module, view.operands[0]);
  Cuts cuts(module.type(view.results[0]).dims.size());
  const std::vector<std::size_t> places = view_places(module, view);
  for (std::size_t axis = 0; axis < places.size(); ++axis) {
    if (places[axis] != no_place) cuts[places[axis]] = own.cut_of(axis);
  }
  return cuts;
}

bool is_tiled(const Module& module) {
  bool tiled = false;
  for (const ValueId v : module.values.ids()) tiled = tiled || !module.type(v).cuts.empty();
  return tiled;
}

}  // namespace kasen
