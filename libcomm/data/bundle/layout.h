// The layout of a part's file, for the writer and the reader alike. A visitor has
//   group(path)
//   list(path, vector, count)                    a rank-1 dataset of the vector's type
//   planes(path, array, element, extents)        an array's elements, plane by plane; extents without the planes
//   columns(path, name, matrix, count)           a matrix's columns, a list
//   entry_values(path, name, matrix, extents)    a matrix's values, planes
//   table(path, vector, rows, cols)              a rank-2 dataset, row by row
//   bytes(path, bytes, type, count)              a rank-1 dataset of that type
//   ones(path)                                   one u8 with the value 1 (binsparse's iso value of a pattern)
//   matrix(path, name, matrix)                   the binsparse attribute
#pragma once

#include <map>
#include <string>
#include <vector>

#include "libcomm/data/bundle/manifest.h"
#include "libcomm/data/hdf5/file.h"
#include "libcore/base/checked.h"
#include "libcore/ir/layout.h"

namespace kasen {

// Ranges by peer, as in the files: range k is pointers[k] to pointers[k + 1] and belongs to peers[k]. Before version 3
// each worker has a range, and there are no peers.
struct PeerLists {
  std::vector<std::int32_t> peers;
  std::vector<std::int64_t> pointers;
};
struct AxisPeers {
  PeerLists slaves, mirrors;
};

// By dimension, where the others' indices begin for each worker; only before version 3, which has it in the manifest.
using OtherPointers = std::map<std::string, std::vector<std::int64_t>>;

// By array, a row for each group of a compressed array: the fields of ColumnGroup, in their order.
using GroupTables = std::map<std::string, std::vector<std::int64_t>>;
inline constexpr std::int64_t numbers_of_a_group = 9;

// The numbers of elements and neighbours of an axis.
struct AxisCounts {
  std::int64_t slaves, owners, mirrors, holders;
};

// The counts of one worker; the numbers of neighbours are 0 before version 3.
inline AxisCounts axis_counts(const Manifest& manifest, const std::string& name, Axis axis, int worker) {
  const MatrixStatistics& facts = matrix_facts(manifest, name);
  const auto w = static_cast<std::size_t>(worker);
  const bool rows = axis == Axis::rows;
  AxisCounts counts{(rows ? facts.row_slaves_by_worker : facts.col_slaves_by_worker)[w], 0,
                    (rows ? facts.row_mirrors_by_worker : facts.col_mirrors_by_worker)[w], 0};
  if (manifest.version < neighbours_version) return counts;
  const NeighbourFacts& neighbours = manifest.neighbours.at(name);
  counts.owners = (rows ? neighbours.row_owners : neighbours.col_owners)[w];
  counts.holders = (rows ? neighbours.row_holders : neighbours.col_holders)[w];
  return counts;
}

template <class Visitor>
void describe_peers(Visitor& v, const Manifest& manifest, const std::string& peers, const std::string& pointers,
                    PeerLists& lists, std::int64_t count) {
  const bool neighbours = manifest.version >= neighbours_version;
  if (neighbours) v.list(peers, lists.peers, count);
  v.list(pointers, lists.pointers, (neighbours ? count : manifest.info.workers) + 1);
}

template <class Visitor>
void describe_axis(Visitor& v, const Manifest& manifest, const std::string& prefix, AxisSlaves& axis, AxisPeers& peers,
                   const AxisCounts& counts) {
  v.list(prefix + "_slaves", axis.slaves, counts.slaves);
  describe_peers(v, manifest, prefix + "_slave_owners", prefix + "_slave_pointers", peers.slaves, counts.owners);
  v.list(prefix + "_mirrors", axis.mirrors, counts.mirrors);
  describe_peers(v, manifest, prefix + "_mirror_holders", prefix + "_mirror_pointers", peers.mirrors, counts.holders);
}

template <class Visitor>
void describe_matrix(Visitor& v, const Manifest& manifest, const std::string& name, PartMatrix& matrix,
                     AxisPeers& row_peers, AxisPeers& col_peers, int worker) {
  const MatrixStatistics& facts = matrix_facts(manifest, name);
  const auto w = static_cast<std::size_t>(worker);
  const std::string group = "/matrices/" + name;
  const std::int64_t rows = dim_facts(manifest, facts.row_dim).masters_by_worker[w] + facts.row_slaves_by_worker[w];
  const std::int64_t lines = checked_mul(facts.batches, rows, "a matrix's rows");
  const std::int64_t entries = facts.entries_by_worker[w];
  v.group(group);
  v.matrix(group, name, matrix);
  v.list(group + "/pointers_to_1", matrix.row_pointers, checked_add(lines, 1, "a matrix's rows"));
  v.columns(group + "/indices_1", name, matrix, entries);
  const bool plain = matrix.element.is_scalar() && !matrix.element.is(Scalar::null);
  if (!plain) v.ones(group + "/values");
  if (!matrix.element.is(Scalar::null))
    v.entry_values(group + (plain ? "/values" : "/entry_values"), name, matrix, {entries});
  describe_axis(v, manifest, group + "/row", matrix.row_slaves, row_peers,
                axis_counts(manifest, name, Axis::rows, worker));
  describe_axis(v, manifest, group + "/col", matrix.col_slaves, col_peers,
                axis_counts(manifest, name, Axis::cols, worker));
}

// The axis along which an array is cut, or no_axis.
inline std::ptrdiff_t cut_axis(const Manifest& manifest, const std::vector<std::string>& dims) {
  return cut_axis_of(dims, [&](const std::string& name) { return dim_facts(manifest, name).local; });
}

// The cut dimension first, then the others in order; of a shared, all in order.
inline std::vector<std::int64_t> array_extents(const Manifest& manifest, const std::vector<std::string>& dims,
                                               int worker) {
  std::vector<std::int64_t> extents;
  const std::ptrdiff_t cut = cut_axis(manifest, dims);
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const DimStatistics& dim = dim_facts(manifest, dims[axis]);
    if (std::cmp_equal(axis, cut)) {
      extents.insert(extents.begin(), dim.masters_by_worker[static_cast<std::size_t>(worker)]);
    } else {
      extents.push_back(dim.size);
    }
  }
  if (extents.empty()) extents.push_back(1);
  return extents;
}

// The same of an array that is whole in one file: worker after worker has the next of the cut dimension's indices.
inline std::vector<std::int64_t> whole_extents(const Manifest& manifest, const std::vector<std::string>& dims) {
  std::vector<std::int64_t> extents = array_extents(manifest, dims, 0);
  const std::ptrdiff_t cut = cut_axis(manifest, dims);
  if (cut != no_axis) extents[0] = dim_facts(manifest, dims[static_cast<std::size_t>(cut)]).size;
  return extents;
}

// Worker after worker owns the next indices, so no list of them is written.
inline bool in_runs(const Manifest& manifest, const std::string& dim) {
  const auto known = manifest.in_runs.find(dim);
  return known != manifest.in_runs.end() && known->second;
}

inline bool others_in_runs(const Manifest& manifest, const std::string& dim) {
  return manifest.version >= runs_version && in_runs(manifest, dim) && dim_facts(manifest, dim).whole;
}

template <class Visitor>
void describe_dims(Visitor& v, const Manifest& manifest, std::map<std::string, PartDim>& dims, int worker) {
  v.group("/dims");
  for (auto& [name, dim] : dims) {
    const std::int64_t masters = dim_facts(manifest, name).masters_by_worker[static_cast<std::size_t>(worker)];
    v.group("/dims/" + name);
    if (!in_runs(manifest, name)) v.list("/dims/" + name + "/masters", dim.masters, masters);
    if (manifest.relabelled.at(name) && masters > 0) v.list("/dims/" + name + "/original", dim.original, masters);
  }
}

// The indices that other workers own, for dimensions along which arrays are whole.
template <class Visitor>
void describe_others(Visitor& v, const Manifest& manifest, Part& part, OtherPointers& pointers) {
  for (auto& [name, dim] : part.dims) {
    const DimStatistics& facts = dim_facts(manifest, name);
    if (!facts.whole || others_in_runs(manifest, name)) continue;
    const std::int64_t masters = facts.masters_by_worker[static_cast<std::size_t>(part.worker)];
    v.list("/dims/" + name + "/others", dim.others, facts.size - masters);
    if (manifest.version < neighbours_version)
      v.list("/dims/" + name + "/other_pointers", pointers[name], manifest.info.workers + 1);
  }
}

// Takes the place of `values`; the manifest states all lengths.
template <class Visitor>
void describe_compressed(Visitor& v, const std::string& group, const CompressedFacts& facts, CompressedArray& array,
                         std::vector<std::int64_t>& groups, int worker) {
  const auto w = static_cast<std::size_t>(worker);
  v.table(group + "/groups", groups, facts.groups[w], numbers_of_a_group);
  v.list(group + "/columns", array.columns, array.cols);
  v.list(group + "/counts", array.counts, facts.tuples[w]);
  v.bytes(group + "/tuples", array.values, file_type(array.scalar), facts.values[w]);
  v.bytes(group + "/data", array.data, FileType::u8, facts.data_bytes[w]);
}

// `peers` has two lists for each matrix of the part, rows and columns, in the order of the part's map.
template <class Visitor>
void describe_part(Visitor& v, const Manifest& manifest, Part& part, std::vector<AxisPeers>& peers,
                   OtherPointers& others, GroupTables& groups) {
  describe_dims(v, manifest, part.dims, part.worker);
  describe_others(v, manifest, part, others);
  v.group("/matrices");
  auto next = peers.begin();
  for (auto& [name, matrix] : part.matrices) {
    describe_matrix(v, manifest, name, matrix, next[0], next[1], part.worker);
    next += 2;
  }
  v.group("/arrays");
  for (auto& [name, array] : part.arrays) {
    v.group("/arrays/" + name);
    if (const auto& compressed = manifest.arrays.at(name).compressed) {
      describe_compressed(v, "/arrays/" + name, *compressed, *array.compressed, groups[name], part.worker);
      continue;
    }
    if (manifest.arrays.at(name).stored || manifest.arrays.at(name).offsets) continue;
    v.planes("/arrays/" + name + "/values", array.data, array.data.element,
             array_extents(manifest, array.dims, part.worker));
  }
}

// The datasets of an array: one, with the planes in front for a small array; for a tuple, one for each component.
struct ComponentPlace {
  std::string path;
  Scalar scalar;
  std::vector<std::int64_t> extents;
  std::int64_t first_plane, planes, elements;
};
inline std::vector<ComponentPlace> component_places(const std::string& path, const ElementType& element,
                                                    const std::vector<std::int64_t>& extents) {
  std::vector<ComponentPlace> places;
  std::int64_t elements = 1;
  for (const std::int64_t e : extents) elements = checked_mul(elements, e, "an array's size");
  for (std::size_t c = 0; c < element.components.size(); ++c) {
    const Component& component = element.components[c];
    if (component.scalar == Scalar::null) continue;
    ComponentPlace place{element.tuple ? path + "_" + std::to_string(c) : path,
                         component.scalar,
                         extents,
                         element.first_plane(static_cast<int>(c)),
                         component.planes(),
                         elements};
    if (component.count > 0) place.extents.insert(place.extents.begin(), component.count);
    places.push_back(std::move(place));
  }
  return places;
}

}  // namespace kasen
