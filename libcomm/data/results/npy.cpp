// One file for each output, each component of a tuple (`-<output>.0`), and the user's ids of each dimension whose ids
// were relabelled (`-<dim>_ids`).
#include <fmt/format.h>

#include <array>

#include "libcomm/data/read/npy_header.h"
#include "libcomm/data/results/files.h"

namespace kasen {
namespace {

std::string_view npy_type(Scalar scalar) {
  static constexpr std::array<std::string_view, 7> names{"<f8", "<f4", "<i8", "<i4", "|b1", "|u1", "<i8"};
  return names[static_cast<std::size_t>(scalar)];
}

// A component of a tuple is a file of its own, with its own name.
class NpyResults : public ResultFiles {
 public:
  NpyResults(const std::string& path, const std::vector<ResultTable>& tables) : files_(path) {
    for (const ResultTable& table : tables) {
      std::vector<ResultPlace>& places = places_.emplace_back();
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const ResultColumn& column = table.columns[c];
        const std::string name = table.tuple ? fmt::format("{}.{}", table.name, c) : table.name;
        const bool first = places_.size() == 1 && !table.tuple && !table.ids;
        places.push_back(files_.create(name, npy_header(npy_type(column.scalar), column.extents(table.dims)), first));
      }
    }
  }
  [[nodiscard]] const ResultPlaces& places() const override { return places_; }
  std::vector<std::string> commit() override { return files_.commit(); }

 private:
  FilePerOutput files_;
  ResultPlaces places_;
};

}  // namespace

std::unique_ptr<ResultFiles> make_npy_results(const std::string& path, const std::vector<ResultTable>& tables) {
  return std::make_unique<NpyResults>(path, tables);
}

}  // namespace kasen
