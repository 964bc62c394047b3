#include "tools/fit/predictions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "libcore/base/count_text.h"
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
      refuse(fmt::format("it has {}", count_plural(classes, "class", "classes")));
    columns();
    return *row;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    fail(ExitStatus::bad_input, fmt::format("'{}' is no model", path_), why, "make it again with kasen fit");
  }

  // -1: any size from 1.
  std::vector<std::int64_t> sized(const std::string& name, const std::vector<std::int64_t>& wanted,
                                  bool may_be_whole = false) const {
    const auto at = model_.arrays.find(name);
    if (at == model_.arrays.end()) refuse(fmt::format("it has no '{}'", name));
    const std::vector<std::int64_t>& extents = at->second.extents;
    bool fits = extents.size() == wanted.size();
    for (std::size_t k = 0; fits && k < wanted.size(); ++k)
      fits = wanted[k] < 0 ? extents[k] > 0 : extents[k] == wanted[k];
    if (!fits) refuse(fmt::format("'{}' does not have the size of its features", name));
    if (!may_be_whole && !at->second.whole.empty()) refuse(fmt::format("'{}' holds integers", name));
    return extents;
  }
  std::vector<std::int64_t> matrix(const std::string& name, std::int64_t rows, std::int64_t cols) const {
    return sized(name, {rows, cols});
  }
  void vector(const std::string& name, std::int64_t count) const { (void)sized(name, {count}); }

  void factors() const {
    const std::vector<std::int64_t> rows = matrix("U", -1, -1), cols = matrix("V", -1, rows[1]);
    ids("N_ids", 0, rows[0]);
    ids("M_ids", 1, cols[0]);
  }

  // Numbers of rows or columns; of words their numbers among those of feature k.
  void ids(const std::string& name, std::size_t k, std::int64_t count) const {
    const std::int64_t words = k < model_.features.size() ? std::ssize(model_.features[k].levels) : 0;
    const auto at = model_.arrays.find(name);
    if (at == model_.arrays.end()) {
      if (words != 0 && words != count) refuse("it has other words than rows or columns");
      return;
    }
    (void)sized(name, {count}, true);
    constexpr double first_inexact = 9007199254740992.0;  // 2^53
    for (const double id : at->second.values)             // of a model of version 1
      if (std::trunc(id) != id || id < 0 || id > first_inexact) refuse(fmt::format("'{}' has no whole numbers", name));
    for (const std::int64_t id : at->second.whole)
      if (id < 0 || (words > 0 && id >= words)) refuse(fmt::format("'{}' has a number that is not there", name));
    if (words > 0 && at->second.whole.empty()) refuse(fmt::format("'{}' has no whole numbers", name));
  }

  void columns() const {
    if (model_.features.empty() && model_.kind != "als") refuse("it has no features");
    for (const ModelColumn& column : model_.features)
      if (column.number < 1 || (column.mean && !column.levels.empty())) refuse("a feature has no column");
  }

  const Model& model_;
  std::string path_;
};

// Quoted wherever a reader of tables could part it, whatever its separator.
std::string word_cell(const std::string& text) {
  if (text.find_first_of(",\"; \t") == std::string::npos && !text.empty()) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string header_of(const std::vector<std::string>& more) {
  std::string text = "prediction";
  for (const std::string& name : more) text += "," + word_cell(name);
  return text + "\n";
}

// Of two classes, from a score each.
std::string two_classes(const Model& model, const std::vector<double>& scores, bool chances) {
  std::string text = header_of(chances ? model.classes : std::vector<std::string>());
  const std::string first = word_cell(model.classes[0]), second = word_cell(model.classes[1]);
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
    text += word_cell(model.classes[static_cast<std::size_t>(best)]);
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

}  // namespace kasen::tools
