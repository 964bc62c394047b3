#include "tools/fit/samples.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <utility>

#include "libcomm/data/read/npy_header.h"
#include "libcomm/data/read/readers.h"
#include "libcomm/data/text/table_head.h"
#include "libcomm/data/text/text_source.h"
#include "libcore/base/count_text.h"
#include "libcore/base/error.h"
#include "libcore/base/suggest.h"
#include "tools/fit/table_reads.h"

namespace kasen::tools {
namespace {

constexpr std::int64_t most_dense = 512;  // features of LIBSVM that become columns of a dense array by themselves

TableHead head_of(const std::string& path, TableForm form, const SampleChoice& choice) {
  if (form == TableForm::npy) {
    TableHead head;
    head.columns.resize(static_cast<std::size_t>(columns_of_array(path)));
    return head;
  }
  const bool by_number = !choice.target.empty() && choice.target.find_first_not_of("0123456789") == std::string::npos;
  const bool by_name =
      (!choice.target.empty() && !by_number) || any_by_name(choice.columns) || any_by_name(choice.words);
  HeadCells cells = head_cells(choice.cells);
  for (const auto* choices : {&choice.columns, &choice.words})
    for (const ColumnChoice& column : *choices)
      if (!column.name.empty()) cells.wanted.push_back(column.name);
  if (by_name && !choice.target.empty() && !by_number) cells.wanted.push_back(choice.target);
  return read_table_head(path, by_name, cells);
}

void require_target(const std::string& target, const ModelRow& row) {
  if (row.has_target() && target.empty())
    fail(ExitStatus::usage, "no target", fmt::format("a {} foretells a column", row.title), "name it: --target COLUMN");
  if (!row.has_target() && !target.empty())
    fail(ExitStatus::usage, fmt::format("--target {}", target), fmt::format("{} has no target", row.name),
         "leave it out, or choose the columns: --columns");
}

// Puts the columns of words behind those of numbers, as X has them.
void order_features(Samples& samples) {
  std::stable_partition(samples.features.begin(), samples.features.end(),
                        [](const ModelColumn& column) { return column.levels.empty(); });
}

class TableChoice {
 public:
  TableChoice(const std::string& path, TableForm form, const ModelRow& row, const SampleChoice& choice)
      : row_(row), choice_(choice), head_(head_of(path, form, choice)), columns_(file_columns(head_)) {
    samples_.path = path;
    samples_.form = form;
    samples_.columns = columns_.count;
    samples_.cells = choice.cells;
    if (form == TableForm::npy && !choice.words.empty())
      fail(ExitStatus::usage, "--words for an array", "a .npy file holds numbers", "leave it out");
    for (const int column : chosen_columns(choice.words, columns_, path)) at(column).words = true;
  }

  Samples read() {
    choose_target();
    choose_features();
    settle_cells();
    read_words();
    order_features(samples_);
    return std::move(samples_);
  }

 private:
  HeadColumn& at(int number) { return head_.columns[static_cast<std::size_t>(number) - 1]; }

  void choose_target() {
    if (!row_.has_target()) return;
    std::error_code none;
    const bool known = std::find(columns_.names.begin(), columns_.names.end(), choice_.target) != columns_.names.end();
    const bool number = choice_.target.find_first_not_of("0123456789") == std::string::npos;
    if (!known && !number && std::filesystem::is_regular_file(choice_.target, none)) {
      samples_.target_path = choice_.target;
      samples_.target.push_back({0, std::filesystem::path(choice_.target).filename().string(), {}});
      return;
    }
    // A name is taken as it stands, also where it has a comma or looks like a range.
    std::vector<ColumnChoice> choices{ColumnChoice(choice_.target)};
    if (!known && number) choices = parse_columns(choice_.target);
    target_ = chosen_columns(choices, columns_, samples_.path).at(0);
    if (at(target_).words && !row_.has_classes())
      fail(ExitStatus::bad_input, fmt::format("the target '{}' holds words", choice_.target),
           fmt::format("a {} foretells numbers", row_.title), "choose logistic or multinomial for classes",
           {samples_.path});
    samples_.target.push_back({target_, at(target_).name, {}});
  }

  void choose_features() {
    std::vector<int> chosen = choice_.columns.empty() ? chosen_columns({ColumnChoice(1, columns_.count)}, columns_, "")
                                                      : chosen_columns(choice_.columns, columns_, samples_.path);
    const auto target = std::find(chosen.begin(), chosen.end(), target_);
    if (target != chosen.end() && !choice_.columns.empty())
      fail(ExitStatus::usage, fmt::format("the target '{}' is among --columns", choice_.target),
           "it would foretell itself", "leave it out", {samples_.path});
    if (target != chosen.end()) chosen.erase(target);
    if (chosen.empty())
      fail(ExitStatus::bad_input, "the table has no column beside the target", "a model needs a feature", "",
           {samples_.path});
    for (const int column : chosen) samples_.features.push_back({column, at(column).name, {}});
    for (int column = 1; column <= columns_.count && head_.named; ++column)
      if (column != target_ && std::find(chosen.begin(), chosen.end(), column) == chosen.end())
        samples_.left_out.push_back(at(column).name);
  }

  [[nodiscard]] std::vector<ModelColumn*> columns_of_words() {
    std::vector<ModelColumn*> words;
    for (ModelColumn& column : samples_.features)
      if (at(column.number).words) words.push_back(&column);
    if (target_ > 0 && at(target_).words) words.push_back(&samples_.target[0]);
    return words;
  }

  void settle_cells() {
    if (samples_.form != TableForm::csv && !has_target_in_text(samples_))
      refuse_cell_rules(samples_.cells, "an array", "a .npy file holds numbers, and cells in text are missing");
    std::set<int> words;
    for (const ModelColumn* column : columns_of_words()) words.insert(column->number);
    settle_missing(samples_, words);
    if (samples_.cells.missing.how == MissingRule::How::mean) take_means(samples_, words);
  }

  // Reads the columns whose words have to be known before the program is.
  void read_words() {
    read_levels(samples_, columns_of_words());
    if (!row_.has_classes()) return;
    if (samples_.target_is_words())
      samples_.classes = samples_.target[0].levels;
    else
      samples_.classes = number_classes(samples_);
  }

  const ModelRow& row_;
  const SampleChoice& choice_;
  TableHead head_;
  FileColumns columns_;
  Samples samples_;
  int target_ = 0;  // its column, from 1
};

Samples libsvm_samples(const std::string& path, const ModelRow& row, const SampleChoice& choice) {
  if (!choice.columns.empty() || !choice.words.empty())
    fail(ExitStatus::usage, "--columns or --words for LIBSVM", "its features have no columns to choose", "leave it out",
         {path});
  if (!choice.target.empty() && choice.target != "label")
    fail(ExitStatus::usage, fmt::format("there is no column '{}'", choice.target),
         "LIBSVM has one target, the label of each line", "leave out --target", {path});
  refuse_cell_rules(choice.cells, "LIBSVM", "its features have no cells: one that is absent is 0");
  Samples samples;
  samples.path = path;
  samples.form = TableForm::libsvm;
  if (row.has_target()) samples.target.push_back({0, "label", {}});
  const bool few = choice.form == SampleForm::dense || first_features(path) <= most_dense;
  samples.sparse = choice.form == SampleForm::sparse || !few;
  if (row.has_classes()) samples.classes = number_classes(samples);
  return samples;
}

void require_classes(const Samples& samples, const ModelRow& row) {
  if (!row.has_classes()) return;
  const auto count = std::ssize(samples.classes);
  const std::string what = fmt::format("the target '{}' has {}", shown_column(samples.target[0]),
                                       count == 1 ? "one class alone" : fmt::format("{} classes", count));
  if (count < 2)
    fail(ExitStatus::bad_input, what, fmt::format("every row says {}", fmt::join(samples.classes, "")),
         "there is nothing to tell apart", {samples.path});
  if (row.target == TargetKind::two && count > 2)
    fail(ExitStatus::bad_input, what, fmt::format("a {} tells two apart", row.title), "choose multinomial",
         {samples.path});
}

}  // namespace

FileColumns file_columns(const TableHead& head) {
  FileColumns columns{.names = {}, .count = static_cast<int>(head.columns.size())};
  if (head.named)
    for (const HeadColumn& column : head.columns) columns.names.push_back(column.name);
  return columns;
}

Samples samples_to_fit(const std::string& path, const ModelRow& row, const SampleChoice& choice) {
  const TableForm form = form_of_table(path);
  if (form != TableForm::libsvm) require_target(choice.target, row);
  Samples samples =
      form == TableForm::libsvm ? libsvm_samples(path, row, choice) : TableChoice(path, form, row, choice).read();
  if (form != TableForm::libsvm && choice.form == SampleForm::sparse)
    fail(ExitStatus::usage, "--samples sparse for a dense table", "LIBSVM alone is sparse", "leave it out", {path});
  require_classes(samples, row);
  return samples;
}

}  // namespace kasen::tools
