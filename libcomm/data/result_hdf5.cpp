#include <nlohmann/json.hpp>

#include "libcomm/data/hdf5_file.h"
#include "libcomm/data/result_files.h"

namespace kasen {
namespace {

class Hdf5Results : public ResultFiles {
 public:
  Hdf5Results(const std::string& path, const std::vector<ResultTable>& tables, const OriginalIds& ids)
      : path_(path), file_(path), out_(file_.temporary()) {
    out_.attribute("/", "kasen_results", R"({"version":1})");
    for (const ResultTable& table : tables) lay_out(table);
    std::map<std::string, int> id_sets;
    for (const auto& [dim, all] : ids)
      id_sets[dim] = out_.dataset("/" + dim + "_ids", FileType::i64, {static_cast<std::int64_t>(all.size())});
    out_.layout_done();
    for (const auto& [dim, all] : ids)
      out_.write(id_sets[dim], 0, all.data(), static_cast<std::int64_t>(all.size() * sizeof all[0]));
  }

  void write(const ResultTable& table) override {
    const std::vector<int>& sets = sets_.at(table.name);
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const std::vector<std::byte>& bytes = table.columns[c].bytes;
      out_.write(sets[c], 0, bytes.data(), static_cast<std::int64_t>(bytes.size()));
    }
  }

  std::vector<std::string> commit() override {
    out_.close();
    file_.commit();
    return {path_};
  }

 private:
  void lay_out(const ResultTable& table) {
    const std::string path = "/" + table.name;
    if (table.element.tuple) out_.group(path);
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const ResultColumn& column = table.columns[c];
      const std::string set = table.element.tuple ? path + "/" + std::to_string(c) : path;
      sets_[table.name].push_back(out_.dataset(set, file_type(column.scalar), column.extents(table.dims)));
    }
    nlohmann::ordered_json dims = nlohmann::ordered_json::array();
    for (const ResultDim& dim : table.dims) dims.push_back(dim.name);
    out_.attribute(path, "dims", dims.dump());
  }

  std::string path_;
  NewFile file_;
  Hdf5Writer out_;
  std::map<std::string, std::vector<int>> sets_;
};

}  // namespace

std::unique_ptr<ResultFiles> make_hdf5_results(const std::string& path, const std::vector<ResultTable>& tables,
                                               const OriginalIds& ids) {
  return std::make_unique<Hdf5Results>(path, tables, used_ids(tables, ids));
}

}  // namespace kasen
