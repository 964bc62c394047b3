/// \file
/// What each worker has of an array whose layout a plan names (docs/ir.md, "Layouts"): a box, some indices of each
/// axis. It stands in memory in the order of the whole array, without gaps. Arrays of the default layout are numbered
/// otherwise (libcore/kernels/numbering.h).
///
/// An axis that is cut over mesh axes a, b is cut in equal runs over a, and each of these over b; the first ones are
/// longer by one. A worker has the run of its own place along each of these mesh axes, but the runs of all places along
/// those that are *held*. Blocks that are dealt out cyclically are such runs, too (libcore/ir/layout.h).
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "libcore/data/place_list.h"
#include "libcore/ir/module.h"

namespace kasen {

/// One axis of a box. `held` is a part of `cuts`, without mesh axes behind which all cuts are held: N/ab held along b
/// is N/a. Mesh axes of one place are in neither: they cut nothing. Of held axes with as many places, the first that
/// can stand there stands for each: on a mesh a = 2, b = 2, c, N/bc held along b is N/ac held along a. So equal parts
/// are equal.
struct AxisPart {
  DimId dim = no_dim;
  MeshAxes cuts = 0, held = 0;
  std::int64_t block = 0;

  friend auto operator<=>(const AxisPart&, const AxisPart&) = default;
};
[[nodiscard]] AxisPart axis_part(const Module& module, DimId dim, AxisCut cut, MeshAxes held);
using Box = std::vector<AxisPart>;  ///< by axis of the array

/// What a worker has of a value of this type, and what it owns of it.
[[nodiscard]] Box stored_box(const Module& module, const Type& type);
[[nodiscard]] Box owned_box(const Module& module, const Type& type);

/// True for a scatter or relayout of an input on one worker whose result is only read, from a buffer of its own: the
/// input has all of it in the same order. Then the result is the input's own memory, and its buffer has none.
[[nodiscard]] bool stands_in_input(const Module& module, const Op& op);

/// The number of workers; 1 without a mesh.
[[nodiscard]] int mesh_workers(const Module& module);
/// The mesh of a module that runs on so many workers: without a `mesh` of its own, one axis of all. UserError
/// (bad_input) if it has another number of places.
[[nodiscard]] std::vector<MeshAxis> mesh_of(const Module& module, int workers);
/// The axes of the mesh that are known to have one place.
[[nodiscard]] MeshAxes axes_of_one_place(const Module& module);
/// The place of a worker along an axis of the mesh. Workers are numbered row-major: the last axis runs fastest.
[[nodiscard]] std::int64_t mesh_place(const Module& module, int worker, std::size_t axis);
/// True if two workers are at one place along all axes that cross nodes.
[[nodiscard]] bool are_on_one_node(const Module& module, int worker, int other);
/// True if some axis of the mesh crosses nodes.
[[nodiscard]] bool names_nodes(const Module& module);
/// True if a worker is at place 0 along each of these axes.
[[nodiscard]] bool is_first_along(const Module& module, int worker, MeshAxes axes);

/// Indices first .. first + count - 1 of an axis. Lists of them ascend, and adjacent runs are one.
struct IndexRun {
  std::int64_t first = 0, count = 0;
  friend bool operator==(const IndexRun&, const IndexRun&) = default;
};
using IndexRuns = std::vector<IndexRun>;
/// Adds a run behind all others.
void append_run(IndexRuns& runs, IndexRun run);

/// The indices of an axis on a worker. `module` has sizes. UserError (limit) for an axis of more blocks than a list of
/// them is to have.
[[nodiscard]] IndexRuns runs_of(const Module& module, const AxisPart& part, int worker);
[[nodiscard]] std::int64_t count_of(const IndexRuns& runs);
[[nodiscard]] IndexRuns intersection(const IndexRuns& a, const IndexRuns& b);

/// Elements of an array: those of all these indices of each axis.
struct Elements {
  std::vector<IndexRuns> axes;
  bool none = false;  ///< also without axes

  [[nodiscard]] std::int64_t count() const;
};
[[nodiscard]] Elements elements_of(const Module& module, const Box& box, int worker);
/// The elements of a value that are defined on a worker: none where it is not at place 0 along a mesh axis that neither
/// cuts the value nor is held. (Its memory is the same at all places.)
[[nodiscard]] Elements stored_elements(const Module& module, const Type& type, int worker);
[[nodiscard]] Elements owned_elements(const Module& module, const Type& type, int worker);
[[nodiscard]] Elements intersection(const Elements& a, const Elements& b);

/// The places of indices in a list that has all of them.
[[nodiscard]] IndexList indices_in(const IndexRuns& some, const IndexRuns& all);
/// The places in memory of `some` elements of a box of `all`, in the order of the whole array. `all` has all of them.
[[nodiscard]] PlaceList places_in(const Elements& some, const Elements& all);

}  // namespace kasen
