// One file; a dataset for each output, named after it, with its dimensions' sizes as shape. A small array as element
// adds a last axis; a tuple is a group with one dataset a component, `0`, `1`, ... The attribute `dims` lists the names
// of the dimensions. A sparse matrix has the indices of rows, of columns, and the values as components 0, 1 and 2, in
// the order of rows and then columns; its group's attribute `matrix` has the matrix's dimensions and shape. Where a
// dimension's ids were relabelled, `<dim>_ids` holds the user's ids. The attribute `xxh3_128` of each dataset is the
// digest of its bytes.
#include <nlohmann/json.hpp>

#include "libcomm/data/base/digest.h"
#include "libcomm/data/hdf5/file.h"
#include "libcomm/data/results/files.h"

namespace kasen {
namespace {

class Hdf5Results : public ResultFiles {
 public:
  Hdf5Results(const std::string& path, const std::vector<ResultTable>& tables) : path_(path), file_(path) {
    Hdf5Writer out(file_.temporary());
    out.attribute("/", "kasen_results", R"({"version":1})");
    std::vector<std::vector<int>> sets;
    for (const ResultTable& table : tables) sets.push_back(lay_out(out, table, names_.emplace_back()));
    out.layout_done();
    for (const std::vector<int>& of_table : sets) {
      std::vector<ResultPlace>& places = places_.emplace_back();
      for (const int set : of_table) places.push_back({file_.temporary(), out.offset(set)});
    }
    out.close();
  }
  [[nodiscard]] const ResultPlaces& places() const override { return places_; }
  void put(const ColumnDigests& digests) override {
    std::vector<DatasetDigest> all;
    for (std::size_t t = 0; t < names_.size(); ++t)
      for (std::size_t c = 0; c < names_[t].size(); ++c) all.push_back({names_[t][c], digests.at(t).at(c)});
    set_digests(file_.temporary(), all);
    FileHandle::open_to_write(file_.temporary()).close(Sync::yes);
  }
  std::vector<std::string> commit() override {
    file_.commit();
    return {path_};
  }

 private:
  static std::vector<int> lay_out(Hdf5Writer& out, const ResultTable& table, std::vector<std::string>& names) {
    const std::string path = "/" + table.name;
    if (table.tuple) out.group(path);
    std::vector<int> sets;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const ResultColumn& column = table.columns[c];
      const std::string set = table.tuple ? path + "/" + std::to_string(c) : path;
      sets.push_back(out.dataset(set, file_type(column.scalar), column.extents(table.dims)));
      out.attribute(set, digest_attribute, std::string(digest_digits, '0'));  // put() fills it in
      names.push_back(set);
    }
    if (table.ids) return sets;
    nlohmann::ordered_json dims = nlohmann::ordered_json::array();
    for (const ResultDim& dim : table.dims) dims.push_back(dim.title);
    out.attribute(path, "dims", dims.dump());
    if (table.is_sparse()) {
      nlohmann::ordered_json matrix;
      for (const ResultDim& dim : table.matrix) {
        matrix["dims"].push_back(dim.title);
        matrix["shape"].push_back(dim.size);
      }
      out.attribute(path, "matrix", matrix.dump());
    }
    return sets;
  }

  std::string path_;
  NewFile file_;
  ResultPlaces places_;
  std::vector<std::vector<std::string>> names_;  // of the columns' datasets, by table
};

}  // namespace

std::unique_ptr<ResultFiles> make_hdf5_results(const std::string& path, const std::vector<ResultTable>& tables) {
  return std::make_unique<Hdf5Results>(path, tables);
}

}  // namespace kasen
