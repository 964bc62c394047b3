#include "tools/show/export.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "tools/common/csv.h"
#include "tools/show/shown.h"

namespace kasen::tools {
namespace {

std::string json_text_of(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_cell(const ViewCell& cell) {
  const bool outside = cell.is_real() && !std::isfinite(cell.real);
  const std::string text = cell_text(cell);
  return outside || cell.kind == ViewCell::Kind::word ? json_text_of(text) : text;
}

std::string json_list(const std::vector<std::string>& cells) { return fmt::format("[{}]", fmt::join(cells, ", ")); }

std::vector<std::string> json_names(const std::vector<std::string>& names) {
  std::vector<std::string> texts;
  for (const std::string& name : names) texts.push_back(json_text_of(name));
  return texts;
}

// A dimension that the file does not name is called by its number.
std::vector<std::string> dims_of(const ViewArray& array) {
  std::vector<std::string> dims = array.dims;
  for (size_t d = 0; d < dims.size(); ++d)
    if (dims[d].empty()) dims[d] = fmt::format("index {}", d);
  return dims;
}

}  // namespace

std::string CsvText::begin(const ViewArray& array) {
  std::vector<std::string> names = dims_of(array);
  names.insert(names.end(), array.columns.begin(), array.columns.end());
  return csv_line(names);
}

std::string CsvText::row(const ViewRow& row) {
  std::vector<std::string> cells;
  for (const ViewCell& id : row.ids) cells.push_back(cell_text(id));
  for (const ViewCell& cell : row.cells) cells.push_back(cell_text(cell));
  return csv_line(cells);
}

std::string JsonText::begin(const ViewArray& array) {
  first_ = true;
  return fmt::format("{{\"name\": {}, \"dims\": {}, \"shape\": [{}], \"sparse\": {}, \"columns\": {}, \"rows\": [",
                     json_text_of(array.name), json_list(json_names(dims_of(array))), fmt::join(array.shape, ", "),
                     array.sparse, json_list(json_names(array.columns)));
}

std::string JsonText::row(const ViewRow& row) {
  std::vector<std::string> cells;
  for (const ViewCell& id : row.ids) cells.push_back(json_cell(id));
  for (const ViewCell& cell : row.cells) cells.push_back(json_cell(cell));
  const char* const before = first_ ? "\n" : ",\n";
  first_ = false;
  return before + json_list(cells);
}

Json array_json(const ResultView& view, size_t array, std::int64_t count, bool top, const Rename& renamed) {
  JsonText out;
  const ViewArray& facts = view.arrays()[array];
  std::string text = out.begin(facts);
  const auto add = [&](ViewRow row) {
    if (renamed) renamed(row);
    text += out.row(row);
  };
  if (top) {
    for (const ViewRow& row : top_rows(view, array, static_cast<size_t>(count))) add(row);
  } else if (count > 0) {
    view.rows(array, [&](const ViewRow& row) {
      add(row);
      return --count > 0;
    });
  }
  Json json = Json::parse(text + out.end());
  json["all_rows"] = facts.rows;
  json["chosen"] = top ? "largest" : "first";
  return json;
}

}  // namespace kasen::tools
