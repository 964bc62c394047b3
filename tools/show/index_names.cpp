#include "tools/show/index_names.h"

#include <filesystem>
#include <utility>
#include <vector>

#include "libcomm/data/results/formats.h"

namespace kasen::tools {

DimNames names_beside(const std::string& result) {
  std::error_code none;
  const std::string path = dictionary_path(result);
  if (!std::filesystem::is_regular_file(path, none)) return {};
  return read_dim_names(path);
}

Rename index_names(const ViewArray& array, const DimNames& names) {
  std::vector<const std::vector<std::string>*> by_dim(array.dims.size());
  bool any = false;
  for (size_t d = 0; d < array.shape.size() && d < by_dim.size(); ++d) {
    const auto known = names.find(array.dims[d]);
    if (known == names.end() || !std::cmp_equal(known->second.size(), array.shape[d])) continue;
    by_dim[d] = &known->second;
    any = true;
  }
  if (!any) return {};
  return [by_dim](ViewRow& row) {
    for (size_t d = 0; d < row.ids.size() && d < by_dim.size(); ++d) {
      ViewCell& id = row.ids[d];
      const bool index = by_dim[d] != nullptr && id.kind == ViewCell::Kind::integer && id.integer >= 0 &&
                         std::cmp_less(id.integer, by_dim[d]->size());
      if (index) id = {.kind = ViewCell::Kind::word, .word = (*by_dim[d])[static_cast<size_t>(id.integer)]};
    }
  };
}

}  // namespace kasen::tools
