#include "libopt/layouts/moves.h"

#include <algorithm>

#include "libcore/analysis/boxes.h"
#include "libcore/boxes/moved_elements.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/layout.h"
#include "libcore/sorting/sort_plan.h"

namespace kasen {
namespace {

double count_of(const Elements& elements) {
  double count = elements.none ? 0 : 1;
  for (const IndexRuns& runs : elements.axes) count *= static_cast<double>(kasen::count_of(runs));
  return count;
}

Type part_of(Type type, const Cuts& cuts) {
  type.cuts = cuts;
  type.state = State::part();
  type.list = 0;
  return type;
}

}  // namespace

double Moves::array(const Type& type) const {
  double bytes = static_cast<double>(type.element.bytes());
  for (const DimId dim : type.dims) bytes *= static_cast<double>(m_.dim(dim).size);
  return bytes;
}

double Moves::carried(const Op& scan, MeshAxes axes) const {
  Type lines = m_.type(scan.results.at(0));
  std::erase(lines.dims, worked_dim(scan));
  return along(lines, axes);
}

double Moves::along(const Type& type, MeshAxes axes) const {
  double workers = 1;
  for (std::size_t axis = 0; axis < m_.mesh.size(); ++axis) {
    if ((axes >> axis & 1) != 0) workers *= static_cast<double>(m_.mesh[axis].size);
  }
  return array(type) * (workers - 1);
}

// The indices of a dimension that a worker owns by both cuts. Small blocks are many runs, and few pairs of cuts differ.
double Moves::overlap(DimId dim, AxisCut from, AxisCut to, int worker) {
  const auto [it, is_new] = overlap_.try_emplace({dim, from, to, worker}, 0);
  if (is_new) {
    const IndexRuns own = runs_of(m_, axis_part(m_, dim, from, 0), worker);
    const IndexRuns wanted = runs_of(m_, axis_part(m_, dim, to, 0), worker);
    it->second = static_cast<double>(kasen::count_of(intersection(own, wanted)));
  }
  return it->second;
}

double Moves::staying(const Type& from, const Type& to) {
  double stay = 0;
  const bool whole = is_uncut(from.cuts) || is_uncut(to.cuts);  // the first worker owns it
  const int workers = whole ? 1 : mesh_workers(m_);
  const Layout own(m_, from), wanted(m_, to);
  const MeshAxes alone = all_mesh_axes(m_) & ~(own.all_cuts() & wanted.all_cuts());
  for (int worker = 0; worker < workers; ++worker) {
    if (!is_first_along(m_, worker, alone)) continue;  // one of the two has nothing there
    double elements = 1;
    for (std::size_t axis = 0; axis < from.dims.size(); ++axis) {
      elements *= overlap(from.dims[axis], own.cut_of(axis), wanted.cut_of(axis), worker);
    }
    stay += elements;
  }
  return stay;
}

double Moves::relayout(const Type& type, const Cuts& from, const Cuts& to) {
  if (from == to) return 0;
  const auto [it, is_new] = stay_.try_emplace({type.dims, from, to}, 0);
  if (is_new) {
    it->second = staying(part_of(type, from), part_of(type, to));
  }
  return std::max(0.0, array(type) - it->second * static_cast<double>(type.element.bytes()));
}

double Moves::sorted(const Op& op) {
  const Type& type = m_.type(op.results.at(0));
  const auto [it, is_new] = sorted_.try_emplace({op.results[0], type.cuts}, 0);
  if (!is_new) return it->second;
  double elements = 1;
  for (const DimId dim : type.dims) elements *= static_cast<double>(m_.dim(dim).size);
  double bytes = (elements - sort_stay(m_, op).mean) * static_cast<double>(sorted_bytes(m_, op));
  for_each_agreement(m_, op, [&](const SortMessage& message) { bytes += static_cast<double>(message.bytes); });
  return it->second = std::max(bytes, 0.0);
}

double Moves::rearranged(const Op& op, std::size_t operand, const Cuts& from, const Cuts& to) {
  const auto [it, is_new] = rearranged_.try_emplace({op.results.at(0), operand, from, to}, 0);
  if (!is_new || is_uncut(from)) return it->second;                                    // all workers have it
  if (op.code == OpCode::pick) return it->second = array(m_.type(op.results[0])) / 2;  // data decide
  Op moving = op;
  moving.code = OpCode::relayout;
  const MovedElements moved(m_, moving);
  const Type source = part_of(m_.type(op.operands[operand]), from), target = part_of(m_.type(op.results[0]), to);
  double elements = 0;
  for (int worker = 0; worker < mesh_workers(m_); ++worker) {
    const Elements own = moved.of_operand(operand, owned_elements(m_, source, worker));
    elements += count_of(own) - count_of(intersection(own, moved.of_result(owned_elements(m_, target, worker))));
  }
  return it->second = elements * static_cast<double>(source.element.bytes());
}

}  // namespace kasen
