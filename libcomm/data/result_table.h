// One output while its parts come in: its elements in global order, as the files have them; private to results.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "libcomm/data/results.h"

namespace kasen {

// Ids of the user by index, for dimensions that were relabelled.
using OriginalIds = std::map<std::string, std::vector<std::int64_t>>;

struct ResultDim {
  std::string name;
  std::int64_t size = 0;
};

// One component of the element: a row-major array over the dimensions, and over the coordinates last.
struct ResultColumn {
  Scalar scalar = Scalar::f64;
  std::int64_t coordinates = 1;
  bool small_array = false;  // then the coordinates are an axis
  DimId id_of = no_dim;
  std::int64_t first_plane = 0;
  std::vector<std::byte> bytes;  // empty before the first part and after it was written

  [[nodiscard]] std::vector<std::int64_t> extents(const std::vector<ResultDim>& dims) const;
};

struct ResultTable {
  std::string name;
  ElementType element;
  std::vector<ResultDim> dims;
  int cut = -1;  // which dimension is cut; -1: a shared
  std::vector<ResultColumn> columns;
  std::vector<bool> come;  // by worker

  [[nodiscard]] std::int64_t elements() const;
  [[nodiscard]] bool complete() const;
  // Puts elements of the cut dimension's indices `masters` in their places.
  void take(const std::vector<std::int64_t>& masters, const Array& data);
};

[[nodiscard]] ResultTable make_table(const Module& module, const Output& output, const DimsOfWorkers& dims);
[[nodiscard]] OriginalIds collect_ids(const DimsOfWorkers& dims);
// Indices in columns of type id[..] become the user's ids; what is no index of the dimension stays.
void name_ids(ResultTable& table, const Module& module, const OriginalIds& ids);

}  // namespace kasen
