/// \file
/// How arrays lie on the workers. All that depends on which axes of an array are cut asks here (docs/ir.md, "Layouts").
///
/// A layout says for each axis of an array over which axes of the mesh of workers it is cut. `f64[N/a,K/b]`: a worker
/// owns some indices of N by its place along a, and some of K by its place along b: equal runs, the first ones longer
/// by one. `N/ab` is cut in runs over a, and each of these over b. An axis over no mesh axis is whole. Without a `mesh`
/// the workers are one axis, `w`, and the data says who owns what.
///
/// `N/ab:256` is cut in blocks of 256 indices, which are dealt out cyclically: block i is at place i % |a| along a, and
/// at place (i / |a|) % |b| along b. The last block may be shorter.
///
/// A type of a module without a mesh that names no cuts has the default layout. Its first axis whose dimension is not
/// local is cut over all workers: each owns some of its indices, and may hold ghosts of others. All other axes are
/// whole: a worker that holds an index of the cut axis holds every element of that index. An array without such an axis
/// is a shared, and a worker that holds it holds all of it. A sparse matrix is cut along both of its axes; as an
/// operand it lies as its rows do.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "libcore/base/checked.h"
#include "libcore/ir/module.h"

namespace kasen {

inline constexpr std::ptrdiff_t no_axis = -1;
inline constexpr std::size_t most_mesh_axes = 8;
inline constexpr std::int64_t most_block = std::int64_t{1} << 62;  // indices of a block

/// The number of the mesh's axes, at least 1.
[[nodiscard]] std::size_t mesh_rank(const Module& module);
[[nodiscard]] std::string_view mesh_axis_name(const Module& module, std::size_t axis);
/// The axis of this name, or mesh_rank(module).
[[nodiscard]] std::size_t find_mesh_axis(const Module& module, std::string_view name);
[[nodiscard]] MeshAxes all_mesh_axes(const Module& module);
/// The axes over which two cuts of one dimension agree. `N/ab` cuts N in runs over a and each run over b, so it agrees
/// with `N/a` over a, and with `N/b` over nothing. So do blocks of one size; cuts in others agree over nothing.
[[nodiscard]] MeshAxes axes_cut_alike(AxisCut a, AxisCut b);
/// The cut over these of its axes alone.
[[nodiscard]] AxisCut cut_over(AxisCut cut, MeshAxes axes);
/// "/ab:256", as it stands behind the dimension; nothing for a whole axis.
[[nodiscard]] std::string cut_text(const Module& module, AxisCut cut);
/// "ab".
[[nodiscard]] std::string mesh_axes_text(const Module& module, MeshAxes axes);
/// The mesh's axes in a set of ghosts; `all` has every one.
[[nodiscard]] MeshAxes mesh_axes_of(const Module& module, const SlaveSet& set);
/// The set of these axes, in its only form: every axis is `all`.
[[nodiscard]] SlaveSet set_of_mesh_axes(const Module& module, MeshAxes axes);

/// True if the module names a mesh, or cuts, or labels of axes, or has lines that may lie on several workers
/// (axis_ops.h), matrices of several workers (linear.h), or a dimension of workers: its text is of version 2. Without a
/// mesh of its own it runs on a mesh of one axis, `w`, of all workers.
[[nodiscard]] bool names_layouts(const Module& module);
/// Throws UserError (bad_input) if it does: passes and partitions handle the default layout alone.
void require_default_layouts(const Module& module);

/// The place of the axis that is cut, or no_axis. `is_local` tells whether one of `dims` is local.
template <class Dims, class IsLocal>
[[nodiscard]] std::ptrdiff_t cut_axis_of(const Dims& dims, const IsLocal& is_local) {
  const auto cut = std::find_if_not(dims.begin(), dims.end(), is_local);
  return cut == dims.end() ? no_axis : cut - dims.begin();
}

/// The numbers of elements before, along and behind the cut axis of an array in row-major order. Without such an axis,
/// all elements are behind it.
struct AroundCut {
  std::int64_t outer = 1, extent = 1, inner = 1;

  /// Elements of each index of the cut axis.
  [[nodiscard]] std::int64_t elements_per_index() const { return checked_mul(outer, inner, "an array's local size"); }
};

/// `size_of` gives the size of one of `dims`. Throws UserError (limit) if the product of some of them, which is of
/// `what`, takes more than 63 bits.
template <class Dims, class SizeOf>
[[nodiscard]] AroundCut around_cut(const Dims& dims, std::ptrdiff_t cut, const SizeOf& size_of, std::string_view what) {
  AroundCut around;
  std::ptrdiff_t axis = 0;
  for (const auto& dim : dims) {
    std::int64_t& side = axis == cut ? around.extent : axis < cut ? around.outer : around.inner;
    side = checked_mul(side, size_of(dim), what);
    ++axis;
  }
  return around;
}

/// The layout of one array. It refers to the module and to the dimensions, which must stay.
class Layout {
 public:
  /// `cuts`: for each dimension; empty: the default layout.
  Layout(const Module& module, std::span<const DimId> dims, std::span<const AxisCut> cuts = {});
  Layout(const Module& module, const Type& type) : Layout(module, type.dims, type.cuts) {}
  Layout(const Module& module, ValueId value) : Layout(module, module.type(value)) {}

  /// True for shareds: rank 0, or every dimension local.
  [[nodiscard]] bool is_shared() const { return cut_axis_ == no_axis; }
  [[nodiscard]] bool is_distributed() const { return !is_shared(); }
  /// The place of the axis that is cut, the first one of several; no_axis for shareds.
  [[nodiscard]] std::ptrdiff_t cut_axis() const { return cut_axis_; }
  [[nodiscard]] bool is_cut(std::size_t axis) const { return cuts(axis) != 0; }
  /// The mesh's axes over which an axis is cut.
  [[nodiscard]] MeshAxes cuts(std::size_t axis) const { return cut_of(axis).axes; }
  [[nodiscard]] AxisCut cut_of(std::size_t axis) const;
  /// Those over which some axis is cut.
  [[nodiscard]] MeshAxes all_cuts() const;
  /// The axis that this axis of the mesh cuts; no_axis if there is none.
  [[nodiscard]] std::ptrdiff_t axis_cut_by(std::size_t mesh_axis) const;
  /// The dimension of that axis; no_dim for shareds.
  [[nodiscard]] DimId cut() const { return is_shared() ? no_dim : dims_[static_cast<std::size_t>(cut_axis_)]; }
  [[nodiscard]] const std::string& cut_name() const { return module_->dim(cut()).name; }
  /// The dimensions of the other axes, in order. A square array has its dimension here, too.
  [[nodiscard]] std::vector<DimId> whole_dims() const;

  /// For modules whose sizes are known; a size that is not counts as 0.
  [[nodiscard]] AroundCut around() const;
  /// Elements of each index of the cut axis: 1 for vectors, all of a shared.
  [[nodiscard]] std::int64_t elements_per_index() const { return around().elements_per_index(); }

 private:
  const Module* module_;
  std::span<const DimId> dims_;
  std::span<const AxisCut> cuts_;
  std::ptrdiff_t cut_axis_;
};

}  // namespace kasen
