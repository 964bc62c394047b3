#include "tools/fit/predictions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "libcomm/data/read/readers.h"
#include "libcomm/data/text/table_head.h"
#include "libcore/base/error.h"

namespace kasen::tools {
namespace {

class Soundness {
 public:
  Soundness(const Model& model, std::string path) : model_(model), path_(std::move(path)) {}

  const ModelRow& row() const {
    const ModelRow* row = known_model(model_.kind);
    if (row == nullptr) refuse(fmt::format("there is no kind of model '{}'", model_.kind));
    if (model_.table != "csv" && model_.table != "npy" && model_.table != "libsvm")
      refuse(fmt::format("there is no kind of table '{}'", model_.table));
    const std::int64_t width = model_.width();
    if (row->name == "als") {
      factors();
    } else if (row->name == "kmeans") {
      matrix("centres", -1, width);
    } else if (row->name == "pca") {
      const std::int64_t k = matrix("components", width, -1)[1];
      for (const char* name : {"variance", "share"}) vector(name, k);
      vector("centre", width);
    } else if (row->score == ScoreKind::chances) {
      matrix("coefficients", width, std::ssize(model_.classes));
      vector("intercept", std::ssize(model_.classes));
    } else {
      vector("coefficients", width);
      vector("intercept", 1);
    }
    const auto classes = std::ssize(model_.classes);
    if (row->has_classes() ? classes < 2 || (row->target == TargetKind::two && classes != 2) : classes != 0)
      refuse(fmt::format("it has {} classes", classes));
    columns();
    return *row;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    fail(ExitStatus::bad_input, fmt::format("'{}' is no model", path_), why, "make it again with kasen fit");
  }

  // -1: any size from 1.
  std::vector<std::int64_t> sized(const std::string& name, const std::vector<std::int64_t>& wanted) const {
    const auto at = model_.arrays.find(name);
    if (at == model_.arrays.end()) refuse(fmt::format("it has no '{}'", name));
    const std::vector<std::int64_t>& extents = at->second.extents;
    bool fits = extents.size() == wanted.size();
    for (std::size_t k = 0; fits && k < wanted.size(); ++k)
      fits = wanted[k] < 0 ? extents[k] > 0 : extents[k] == wanted[k];
    if (!fits) refuse(fmt::format("'{}' does not have the size of its features", name));
    return extents;
  }
  std::vector<std::int64_t> matrix(const std::string& name, std::int64_t rows, std::int64_t cols) const {
    return sized(name, {rows, cols});
  }
  void vector(const std::string& name, std::int64_t count) const { (void)sized(name, {count}); }

  void factors() const {
    const std::vector<std::int64_t> rows = matrix("U", -1, -1), cols = matrix("V", -1, rows[1]);
    if (model_.arrays.count("N_ids") > 0) vector("N_ids", rows[0]);
    if (model_.arrays.count("M_ids") > 0) vector("M_ids", cols[0]);
  }

  void columns() const {
    if (model_.features.empty() && model_.kind != "als") refuse("it has no features");
    for (const ModelColumn& column : model_.features)
      if (column.number < 1 || (column.mean && !column.levels.empty())) refuse("a feature has no column");
  }

  const Model& model_;
  std::string path_;
};

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"; \t") == std::string::npos && !text.empty()) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string header_of(const std::vector<std::string>& more) {
  std::string text = "prediction";
  for (const std::string& name : more) text += "," + csv_cell(name);
  return text + "\n";
}

// Of two classes, from a score each.
std::string two_classes(const Model& model, const std::vector<double>& scores, bool chances) {
  std::string text = header_of(chances ? model.classes : std::vector<std::string>());
  const std::string first = csv_cell(model.classes[0]), second = csv_cell(model.classes[1]);
  for (const double score : scores) {
    text += score > 0 ? second : first;
    if (chances) text += fmt::format(",{},{}", 1 / (1 + std::exp(score)), 1 / (1 + std::exp(-score)));
    text += '\n';
  }
  return text;
}

std::string many_classes(const Model& model, const ModelArray& scores, const ModelArray& chance, bool chances) {
  std::string text = header_of(chances ? model.classes : std::vector<std::string>());
  const std::size_t count = model.classes.size();
  for (std::size_t at = 0; at < scores.values.size(); at += count) {
    const auto begin = scores.values.begin() + static_cast<std::ptrdiff_t>(at);
    const auto best = std::max_element(begin, begin + static_cast<std::ptrdiff_t>(count)) - begin;
    text += csv_cell(model.classes[static_cast<std::size_t>(best)]);
    for (std::size_t k = 0; chances && k < count; ++k) text += fmt::format(",{}", chance.values[at + k]);
    text += '\n';
  }
  return text;
}

std::string clusters(const ModelArray& scores) {
  std::string text = "cluster\n";
  const auto count = static_cast<std::size_t>(scores.extents.at(1));
  for (std::size_t at = 0; at < scores.values.size(); at += count) {
    const auto begin = scores.values.begin() + static_cast<std::ptrdiff_t>(at);
    text += fmt::format("{}\n", std::max_element(begin, begin + static_cast<std::ptrdiff_t>(count)) - begin);
  }
  return text;
}

std::string coordinates(const ModelArray& scores) {
  const auto count = static_cast<std::size_t>(scores.extents.at(1));
  std::string text;
  for (std::size_t k = 0; k < count; ++k) text += fmt::format("{}component{}", k > 0 ? "," : "", k + 1);
  for (std::size_t at = 0; at < scores.values.size(); ++at)
    text += fmt::format("{}{}", at % count == 0 ? '\n' : ',', scores.values[at]);
  return text + "\n";
}

std::unordered_map<std::int64_t, std::size_t> places_of(const Model& model, const std::string& ids, std::size_t count) {
  std::unordered_map<std::int64_t, std::size_t> places;
  const auto at = model.arrays.find(ids);
  for (std::size_t k = 0; k < count; ++k)
    places.emplace(
        at == model.arrays.end() ? static_cast<std::int64_t>(k) : static_cast<std::int64_t>(at->second.values[k]), k);
  return places;
}

// By their names where both tables have them, else the first two.
std::vector<ColumnChoice> rating_columns(const Model& model, const std::string& path) {
  const FileFormat format = detect_format(path);
  const bool text = format == FileFormat::csv || format == FileFormat::edge_list;
  if (!text || model.features.size() < 2 || model.features[0].name.empty()) return {ColumnChoice(1, 2)};
  std::vector<std::string> names;
  for (const HeadColumn& column : read_table_head(path, false).columns) names.push_back(column.name);
  for (std::size_t k = 0; k < 2; ++k)
    if (std::find(names.begin(), names.end(), model.features[k].name) == names.end()) return {ColumnChoice(1, 2)};
  return {ColumnChoice(model.features[0].name), ColumnChoice(model.features[1].name)};
}

}  // namespace

const ModelRow& require_sound(const Model& model, const std::string& path) { return Soundness(model, path).row(); }

namespace {

std::string text_of_outputs(const Model& model, const ModelRow& row, const std::map<std::string, ModelArray>& outputs,
                            bool chances) {
  const ModelArray& scores = outputs.at("score");
  if (row.name == "kmeans") return clusters(scores);
  if (row.name == "pca") return coordinates(scores);
  if (row.score == ScoreKind::chances) return many_classes(model, scores, outputs.at("chance"), chances);
  if (row.target == TargetKind::two) return two_classes(model, scores.values, chances);
  std::string text = header_of({});
  for (const double score : scores.values)
    text += fmt::format("{}\n", row.score == ScoreKind::log ? std::exp(score) : score);
  return text;
}

// Puts lines of NA where rows were left out.
std::string with_rows_left_out(const std::string& text, const std::vector<std::int64_t>& dropped, std::size_t cells) {
  std::string gap = "NA", all;
  for (std::size_t k = 1; k < cells; ++k) gap += ",NA";
  std::size_t at = text.find('\n') + 1;
  all = text.substr(0, at);
  auto next = dropped.begin();
  for (std::int64_t row = 0; at < text.size() || next != dropped.end(); ++row) {
    if (next != dropped.end() && *next == row) {
      all += gap + '\n';
      ++next;
      continue;
    }
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    all.append(text, at, end - at);
    at = end;
  }
  return all;
}

}  // namespace

std::string prediction_text(const Model& model, const ModelRow& row, const std::map<std::string, ModelArray>& outputs,
                            bool chances, const std::vector<std::int64_t>& dropped) {
  std::string text = text_of_outputs(model, row, outputs, chances);
  if (dropped.empty()) return text;
  const ModelArray& scores = outputs.at("score");
  const std::size_t cells = row.name == "pca" ? static_cast<std::size_t>(scores.extents.at(1))
                            : chances         ? model.classes.size() + 1
                                              : 1;
  return with_rows_left_out(text, dropped, cells);
}

std::string rating_predictions(const Model& model, const std::string& path) {
  ReadOptions options;
  options.element = ElementType::of(Scalar::i64);
  options.sparse = false;
  options.columns = rating_columns(model, path);
  const RawTable table = read_table(path, options);
  const ModelArray &rows = model.arrays.at("U"), &cols = model.arrays.at("V");
  const auto factors = static_cast<std::size_t>(rows.extents[1]);
  const auto row_places = places_of(model, "N_ids", static_cast<std::size_t>(rows.extents[0]));
  const auto col_places = places_of(model, "M_ids", static_cast<std::size_t>(cols.extents[0]));
  std::string text = "prediction\n";
  for (std::int64_t k = 0; k < table.rows; ++k) {
    const std::int64_t row = table.values.as<std::int64_t>()[2 * k], col = table.values.as<std::int64_t>()[2 * k + 1];
    const auto u = row_places.find(row), v = col_places.find(col);
    if (u == row_places.end() || v == col_places.end())
      fail(ExitStatus::bad_input,
           fmt::format("row {} of the table: the model knows no {} {}", k + 1, u == row_places.end() ? "row" : "column",
                       u == row_places.end() ? row : col),
           "there were no ratings of it", "leave it out", {path});
    double sum = 0;
    for (std::size_t f = 0; f < factors; ++f)
      sum += rows.values[u->second * factors + f] * cols.values[v->second * factors + f];
    text += fmt::format("{}\n", sum);
  }
  return text;
}

}  // namespace kasen::tools
