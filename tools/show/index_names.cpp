#include "tools/show/index_names.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "libcomm/data/results/formats.h"

namespace kasen::tools {

namespace {

using Words = const std::vector<std::string>*;

void name_index(ViewCell& cell, Words words) {
  const bool index = words != nullptr && cell.kind == ViewCell::Kind::integer && cell.integer >= 0 &&
                     std::cmp_less(cell.integer, words->size());
  if (index) cell = {.kind = ViewCell::Kind::word, .word = (*words)[static_cast<size_t>(cell.integer)]};
}

Words words_of(const DimNames& names, const std::string& dim) {
  const auto known = names.find(dim);
  return known == names.end() ? nullptr : &known->second;
}

// Of the cells of a row; w[2] is a coordinate of the output w.
std::vector<Words> words_of_cells(const ViewArray& array, const IndexNames& names) {
  std::vector<Words> by_cell(array.columns.size());
  for (size_t c = 0; c < by_cell.size(); ++c) {
    const auto known = names.elements.find(array.columns[c].substr(0, array.columns[c].find('[')));
    if (known != names.elements.end()) by_cell[c] = words_of(names.dims, known->second);
  }
  return by_cell;
}

}  // namespace

IndexNames names_beside(const std::string& result) {
  std::error_code none;
  const std::string path = dictionary_path(result);
  if (!std::filesystem::is_regular_file(path, none)) return {};
  return names_of_dictionary(path);
}

IndexNames names_of_dictionary(const std::string& dictionary) {
  if (dictionary.empty()) return {};
  return {read_dim_names(dictionary), read_element_dims(dictionary)};
}

Rename index_names(const ViewArray& array, const IndexNames& names) {
  std::vector<Words> by_dim(array.dims.size());
  for (size_t d = 0; d < array.shape.size() && d < by_dim.size(); ++d) {
    const Words known = words_of(names.dims, array.dims[d]);
    if (known != nullptr && std::cmp_equal(known->size(), array.shape[d])) by_dim[d] = known;
  }
  const std::vector<Words> by_cell = words_of_cells(array, names);
  const auto none = [](const std::vector<Words>& all) {
    return std::all_of(all.begin(), all.end(), [](Words words) { return words == nullptr; });
  };
  if (none(by_dim) && none(by_cell)) return {};
  return [by_dim, by_cell](ViewRow& row) {
    for (size_t d = 0; d < row.ids.size() && d < by_dim.size(); ++d) name_index(row.ids[d], by_dim[d]);
    for (size_t c = 0; c < row.cells.size() && c < by_cell.size(); ++c) name_index(row.cells[c], by_cell[c]);
  };
}

}  // namespace kasen::tools
