// The shape of one output in files: a row-major array over its dimensions; private to results.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "libcore/data/data.h"
#include "libcore/data/place_list.h"
#include "libcore/data/run_result.h"
#include "libcore/ir/module.h"

namespace kasen {

struct ResultDim {
  std::string name;   // the program's
  std::string title;  // of the axis in files: the name, or where the axis counts places in an order, NAME_place
  std::int64_t size = 0;
  const std::vector<std::string>* names = nullptr;  // of its indices, in text

  [[nodiscard]] bool has_indices() const { return title == name; }  // else the user's ids do not hold
};

// One component of the element: a row-major array over the dimensions, and over the coordinates last.
struct ResultColumn {
  Scalar scalar = Scalar::f64;
  std::int64_t coordinates = 1;
  bool small_array = false;  // then the coordinates are an axis
  std::string id_of;         // the dimension that values of type id index
  std::int64_t first_plane = 0;

  [[nodiscard]] std::int64_t bytes() const { return coordinates * scalar_bytes(scalar); }  // of one element
  [[nodiscard]] std::vector<std::int64_t> extents(const std::vector<ResultDim>& dims) const;
};

struct ResultTable {
  std::string name;
  bool tuple = false;
  bool ids = false;  // not an output: the user's ids of a relabelled dimension
  std::vector<ResultDim> dims;
  // Of a sparse value (libcore/ir/entries.h) its matrix's dimensions: components 0 and 1 are the indices of row and
  // column, component 2 is the value. In files nonzeros are ordered by these. A size is above all of the user's ids.
  std::vector<ResultDim> matrix;
  int cut = -1;                         // which dimension is cut; -1: a shared
  std::shared_ptr<const Module> boxes;  // of a plan that names layouts: with sizes and a mesh
  std::vector<ResultColumn> columns;

  [[nodiscard]] bool is_sparse() const { return !matrix.empty(); }
  [[nodiscard]] std::int64_t elements() const;
  [[nodiscard]] std::int64_t element_bytes() const;
  // Elements around each index of the cut dimension: place = (o * extent + index) * inner + i.
  [[nodiscard]] std::int64_t outer() const;
  [[nodiscard]] std::int64_t extent() const { return cut < 0 ? 1 : dims[static_cast<std::size_t>(cut)].size; }
  [[nodiscard]] std::int64_t inner() const;
};

// Of an output of the program, without its sizes. bad_input: a list.
[[nodiscard]] ResultTable describe_table(const Module& module, const std::string& name, const Type& type);
// `part`: any part of the bundle, for the sizes. bad_input: a list.
[[nodiscard]] ResultTable make_table(const Module& module, const Output& output, const Part& part);
// `<dim>_ids`.
[[nodiscard]] ResultTable make_ids_table(const std::string& dim, const PartDim& facts);

// One worker's elements of a table: local element (m * outer + o) * inner + i belongs to its owned index m.
struct ResultShare {
  const IndexList* masters = nullptr;    // of the cut dimension; none for shareds
  std::optional<PlaceList> places;       // instead, with boxes: of the elements, in the whole array
  std::vector<const std::byte*> planes;  // of the element
  bool in_file = false;                  // they are a file's pages, which leave memory once they are read
};
// The shares of this process's parts; of a shared, worker 0's alone.
[[nodiscard]] std::vector<ResultShare> shares_of(const ResultTable& table, const Output& output,
                                                 const std::vector<Part>& parts);
[[nodiscard]] std::vector<ResultShare> id_shares_of(const ResultTable& table, const std::vector<Part>& parts);

}  // namespace kasen
