// The columns of a model in another table.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "libcomm/data/read/npy_header.h"
#include "libcomm/data/read/readers.h"
#include "libcomm/data/text/table_head.h"
#include "libcore/base/count_text.h"
#include "libcore/base/error.h"
#include "libcore/base/suggest.h"
#include "tools/fit/table_reads.h"

namespace kasen::tools {
namespace {

class ModelColumns {
 public:
  ModelColumns(const std::string& path, const Model& model, const CellRules& cells) : path_(path), model_(model) {
    samples_.cells = cells;
    samples_.cells.missing.marks.insert(samples_.cells.missing.marks.end(), model.marks.begin(), model.marks.end());
  }

  Samples read() {
    samples_.path = path_;
    samples_.form = form_of_table(path_);
    samples_.sparse = model_.sparse;
    if (samples_.form == TableForm::libsvm || model_.table == "libsvm") return libsvm();
    const bool array = samples_.form == TableForm::npy;
    if (!array) head_ = read_table_head(path_, is_named(), head_cells(samples_.cells));
    if (array)
      refuse_cell_rules(samples_.cells, "an array", "a .npy file holds numbers, and cells in text are missing");
    if (array) head_.columns.resize(static_cast<std::size_t>(columns_of_array(path_)));
    samples_.columns = static_cast<int>(head_.columns.size());
    samples_.features = model_.features;
    if (head_.named && is_named())
      by_name();
    else
      by_number();
    if (array) refuse_words();
    if (!array) settle_cells();
    return std::move(samples_);
  }

 private:
  [[nodiscard]] bool is_named() const {
    return std::all_of(model_.features.begin(), model_.features.end(), [](const auto& c) { return !c.name.empty(); });
  }

  // Missing cells get the model's means, if nothing else is said of them.
  void settle_cells() {
    std::set<int> words;
    std::size_t means = 0;
    for (const ModelColumn& column : samples_.features) {
      if (!column.levels.empty()) words.insert(column.number);
      if (column.mean) ++means;
    }
    MissingRule& rule = samples_.cells.missing;
    const bool has_means = means > 0 && means + words.size() == samples_.features.size();
    if (rule.how == MissingRule::How::mean && !has_means)
      fail(ExitStatus::usage, "--missing mean", "the model has no means: it was fitted without --missing mean",
           "fit it with --missing mean, or give a number (--missing 0), or drop");
    samples_.by_means = has_means && (rule.how == MissingRule::How::mean || !samples_.cells.chosen);
    if (samples_.by_means)
      rule = {MissingRule::How::value, "nan", rule.marks};
    else
      settle_missing(samples_, words);
  }

  Samples libsvm() {
    refuse_cell_rules(samples_.cells, "LIBSVM", "its features have no cells: one that is absent is 0");
    if (model_.table != "libsvm" || samples_.form != TableForm::libsvm)
      fail(ExitStatus::bad_input,
           fmt::format("the model is of a {} table, and this is {}", model_.table,
                       samples_.form == TableForm::libsvm ? "LIBSVM" : "not"),
           "features of LIBSVM have numbers alone", "write the table as the model had it", {path_});
    samples_.size = std::ssize(model_.features);
    return std::move(samples_);
  }

  void by_name() {
    std::vector<std::string> names;
    for (const HeadColumn& column : head_.columns) names.push_back(column.name);
    std::vector<std::string> known = model_.left_out;
    for (const ModelColumn& column : model_.target) known.push_back(column.name);
    for (ModelColumn& column : samples_.features) {
      known.push_back(column.name);
      const auto at = std::find(names.begin(), names.end(), column.name);
      if (at == names.end()) {
        check_title(path_, head_.lines, {column.name}, ExitStatus::bad_input);
        fail_missing(column.name, names);
      }
      column.number = static_cast<int>(at - names.begin()) + 1;
    }
    for (const std::string& name : names)
      if (std::find(known.begin(), known.end(), name) == known.end()) fail_unknown(name, known);
  }

  [[noreturn]] void fail_missing(const std::string& name, const std::vector<std::string>& names) const {
    const std::string near = nearest_name(name, names);
    fail(ExitStatus::bad_input, fmt::format("the table has no column '{}', which the model needs", name),
         near.empty() ? fmt::format("it has {}", fmt::join(names, ", ")) : fmt::format("is it '{}'?", near),
         "name it in the first line, as the table had it to which the model was fitted", {path_});
  }

  [[noreturn]] void fail_unknown(const std::string& name, const std::vector<std::string>& known) const {
    const std::string near = nearest_name(name, known);
    fail(ExitStatus::bad_input, fmt::format("the model knows no column '{}'", name),
         near.empty() ? "the table to which it was fitted had none" : fmt::format("did you mean '{}'?", near),
         "leave it out of the table", {path_});
  }

  // All columns of the table to which the model was fitted; all but the target; or the features alone.
  void by_number() {
    const int whole = model_.table_columns, count = samples_.columns;
    const int target = model_.target.empty() ? 0 : model_.target[0].number;
    for (ModelColumn& column : samples_.features) column.name.clear();  // they mean nothing in this table
    if (count == whole) return;
    if (target > 0 && count == whole - 1) {
      for (ModelColumn& column : samples_.features)
        if (column.number > target) --column.number;
      return;
    }
    if (std::cmp_equal(count, model_.features.size())) {
      std::vector<ModelColumn*> in_order;
      for (ModelColumn& column : samples_.features) in_order.push_back(&column);
      std::sort(in_order.begin(), in_order.end(),
                [](const ModelColumn* a, const ModelColumn* b) { return a->number < b->number; });
      for (std::size_t k = 0; k < in_order.size(); ++k) in_order[k]->number = static_cast<int>(k) + 1;
      return;
    }
    fail(ExitStatus::bad_input, fmt::format("the table has {}", count_text(static_cast<std::size_t>(count), "column")),
         fmt::format("the model has {}, of a table of {}", count_text(model_.features.size(), "feature"),
                     count_text(whole, "column")),
         "give the columns as they were", {path_});
  }

  void refuse_words() const {
    for (const ModelColumn& column : model_.features)
      if (!column.levels.empty())
        fail(ExitStatus::bad_input, fmt::format("column '{}' of the model holds words", shown_column(column)),
             "a .npy file holds numbers", "write the table as CSV", {path_});
  }

  const std::string& path_;
  const Model& model_;
  Samples samples_;
  TableHead head_;
};

}  // namespace

Samples samples_to_predict(const std::string& path, const Model& model, const CellRules& cells) {
  Samples samples = ModelColumns(path, model, cells).read();
  if (samples.form == TableForm::csv && samples.features.empty())
    fail(ExitStatus::bad_input, "the model has no features", {}, {}, {path});
  return samples;
}

}  // namespace kasen::tools
