#include <nlohmann/json.hpp>

#include "libcomm/data/hdf5_file.h"
#include "libcomm/data/result_files.h"

namespace kasen {
namespace {

class Hdf5Results : public ResultFiles {
 public:
  Hdf5Results(const std::string& path, const std::vector<ResultTable>& tables) : path_(path), file_(path) {
    Hdf5Writer out(file_.temporary());
    out.attribute("/", "kasen_results", R"({"version":1})");
    std::vector<std::vector<int>> sets;
    for (const ResultTable& table : tables) sets.push_back(lay_out(out, table));
    out.layout_done();
    for (const std::vector<int>& of_table : sets) {
      std::vector<ResultPlace>& places = places_.emplace_back();
      for (const int set : of_table) places.push_back({file_.temporary(), out.offset(set)});
    }
    out.close();
  }
  [[nodiscard]] const ResultPlaces& places() const override { return places_; }
  std::vector<std::string> commit() override {
    file_.commit();
    return {path_};
  }

 private:
  static std::vector<int> lay_out(Hdf5Writer& out, const ResultTable& table) {
    const std::string path = "/" + table.name;
    if (table.tuple) out.group(path);
    std::vector<int> sets;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const ResultColumn& column = table.columns[c];
      const std::string set = table.tuple ? path + "/" + std::to_string(c) : path;
      sets.push_back(out.dataset(set, file_type(column.scalar), column.extents(table.dims)));
    }
    if (table.ids) return sets;
    nlohmann::ordered_json dims = nlohmann::ordered_json::array();
    for (const ResultDim& dim : table.dims) dims.push_back(dim.name);
    out.attribute(path, "dims", dims.dump());
    return sets;
  }

  std::string path_;
  NewFile file_;
  ResultPlaces places_;
};

}  // namespace

std::unique_ptr<ResultFiles> make_hdf5_results(const std::string& path, const std::vector<ResultTable>& tables) {
  return std::make_unique<Hdf5Results>(path, tables);
}

}  // namespace kasen
