// One file for each output, each component of a tuple (`-<output>.0`), and the user's ids of each dimension whose ids
// were relabelled (`-<dim>_ids`).
#include <fmt/format.h>

#include "libcomm/data/read/npy_header.h"
#include "libcomm/data/results/files.h"
#include "libcomm/data/results/npy_type.h"

namespace kasen {
// A component of a tuple is a file of its own, with its own name.
std::unique_ptr<ResultFiles> make_npy_results(const std::string& path, const std::vector<ResultTable>& tables) {
  auto files = std::make_unique<FilePerOutput>(path);
  for (std::size_t k = 0; k < tables.size(); ++k) {
    const ResultTable& table = tables[k];
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const ResultColumn& column = table.columns[c];
      const std::string name = table.tuple ? fmt::format("{}.{}", table.name, c) : table.name;
      const bool first = k == 0 && !table.tuple && !table.ids;
      files->create(k, name, npy_header(npy_type(column.scalar), column.extents(table.dims)), first);
    }
  }
  return files;
}

}  // namespace kasen
