#include "tools/fit/table_reads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string_view>

#include "libcomm/data/read/npy_header.h"
#include "libcomm/data/read/readers.h"
#include "libcomm/data/text/number_readings.h"
#include "libcomm/data/text/text_source.h"
#include "libcore/base/count_text.h"
#include "libcore/base/error.h"

namespace kasen::tools {
namespace {

// The columns of numbers of a table, row by row; of LIBSVM its labels.
RawTable read_numbers(const std::string& path, const std::vector<const ModelColumn*>& columns, bool text,
                      const CellRules& cells) {
  ReadOptions options = table_read_options(cells);
  for (const ModelColumn* column : columns)
    if (text) options.columns.push_back(reader_choice(*column));
  return read_table(path, options);
}

// `may_drop`: --missing drop would leave out a row with nan.
[[noreturn]] void fail_cell(const std::string& path, std::int64_t row, const std::string& column, double value,
                            bool may_drop) {
  fail(ExitStatus::bad_input, fmt::format("row {} of the table has {} in column '{}'", row + 1, value, column),
       "a model needs a finite number in every cell",
       may_drop && std::isnan(value) ? "fill it in, or leave such rows out: --missing drop"
                                     : "fill it in, or leave the row out",
       {path});
}

bool is_dropped(const Samples& samples, std::int64_t row) {
  return std::binary_search(samples.dropped.begin(), samples.dropped.end(), row);
}

void require_finite_cells(const Samples& samples, const std::vector<ModelColumn>& columns) {
  std::vector<const ModelColumn*> numbers;
  for (const ModelColumn& column : columns)
    if (column.levels.empty()) numbers.push_back(&column);
  if (numbers.empty()) return;
  const bool text = samples.form == TableForm::csv;
  CellRules cells = samples.cells;
  if (cells.fills()) cells.missing = {MissingRule::How::value, "0", cells.missing.marks};
  const RawTable table = read_numbers(samples.path, numbers, text, cells);
  const auto* const values = table.values.as<double>();
  for (std::int64_t row = 0; row < table.rows; ++row) {
    if (is_dropped(samples, row)) continue;
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      const std::int64_t place = text ? static_cast<std::int64_t>(k) : numbers[k]->number - 1;
      const double value = values[row * table.cols + place];
      if (!std::isfinite(value)) fail_cell(samples.path, row, shown_column(*numbers[k]), value, text && !cells.drops());
    }
  }
}

// The features of LIBSVM.
void require_finite_entries(const std::string& path) {
  ReadOptions options = table_read_options({});
  options.labels = false;
  const RawTable table = read_table(path, options);
  for (std::int64_t k = 0; k < table.rows * table.cols; ++k)
    if (const double value = table.values.as<double>()[k]; !std::isfinite(value))
      fail_cell(path, k / table.cols, std::to_string(k % table.cols + 1), value, false);
}

}  // namespace

TableForm form_of_table(const std::string& path) {
  if (path == "-") fail(ExitStatus::usage, "the table is standard input", "it is read more than once", "name a file");
  switch (detect_format(path)) {
    case FileFormat::libsvm:
      return TableForm::libsvm;
    case FileFormat::npy:
      return TableForm::npy;
    case FileFormat::edge_list:
    case FileFormat::csv:
      return TableForm::csv;
    default:
      fail(ExitStatus::bad_input, "the file is no table", "models are fitted to CSV, LIBSVM and .npy",
           "write it as one of these", {path});
  }
}

// The columns of an array file of two axes.
int columns_of_array(const std::string& path) {
  constexpr std::int64_t longest_header = std::int64_t{1} << 16;
  TextSource source(path);
  const NpyHeader header = read_npy_header(source.peek(longest_header), path);
  if (header.shape.size() != 2 || header.shape[1] < 1 || header.shape[1] > (1 << 20))
    fail(ExitStatus::bad_input, fmt::format("the array is over {}", count_plural(header.shape.size(), "axis", "axes")),
         "a table has rows and columns", "save it as array.reshape(len(array), -1)", {path});
  return static_cast<int>(header.shape[1]);
}

ColumnChoice reader_choice(const ModelColumn& column) {
  return column.name.empty() ? ColumnChoice(column.number) : ColumnChoice(column.name);
}

namespace {

// Whether all words are numbers in this style, and one has a comma.
bool are_numbers(const std::vector<std::string>& words, const NumberStyle& style) {
  return std::all_of(words.begin(), words.end(), [&](const auto& word) { return reads_as(word, style); }) &&
         std::any_of(words.begin(), words.end(), [](const auto& word) { return word.find(',') != std::string::npos; });
}

void refuse_commas(const ModelColumn& column, const std::string& path) {
  const bool points = are_numbers(column.levels, {.point = ','});
  const bool groups = are_numbers(column.levels, {.point = '.', .group = ','});
  if (!points && !groups) return;
  const std::string name = shown_column(column);
  const std::string& one = *std::find_if(column.levels.begin(), column.levels.end(),
                                         [](const auto& word) { return word.find(',') != std::string::npos; });
  if (!groups)
    fail(ExitStatus::bad_input, fmt::format("column '{}' holds numbers with a decimal comma", name), {},
         "say so: --decimal ,", {path});
  if (!points)
    fail(ExitStatus::bad_input, fmt::format("column '{}' holds numbers with commas between groups of digits", name), {},
         "say so: --thousands ,", {path});
  fail(
      ExitStatus::bad_input, fmt::format("column '{}' holds numbers with a comma", name),
      fmt::format("'{}' is {} with a decimal comma, and {} with groups of digits", one,
                  *NumberStyle{.point = ','}.plain_text(one), *NumberStyle{.point = '.', .group = ','}.plain_text(one)),
      "say which one is meant: --decimal , or --thousands ,", {path});
}

// A feature for each word of these would fit anything.
void refuse_no_words(const ModelColumn& column, std::int64_t rows, const std::string& path) {
  constexpr std::int64_t few = 20;
  refuse_commas(column, path);
  if (rows >= few && std::ssize(column.levels) == rows) {
    fail(ExitStatus::bad_input, fmt::format("column '{}' has another word in each row", shown_column(column)),
         "each would become a feature of one row", "leave it out: choose the others with --columns", {path});
  }
}

}  // namespace

namespace {

// Which of a column's words rows have that stay.
std::vector<bool> words_in_use(const Samples& samples, const RawTable& table, std::size_t place, std::size_t words) {
  std::vector<bool> used(words, samples.dropped.empty());
  for (std::int64_t row = 0; row < table.rows && !samples.dropped.empty(); ++row)
    if (!is_dropped(samples, row))
      used[static_cast<std::size_t>(table.values.as<double>()[row * table.cols + static_cast<std::int64_t>(place)])] =
          true;
  return used;
}

// The words of the target, with their codes in the file.
void take_classes(Samples& samples, ModelColumn& target, std::vector<std::string> words,
                  const std::vector<bool>& used) {
  for (std::size_t code = 0; code < words.size(); ++code) {
    if (!used[code]) continue;
    target.levels.push_back(std::move(words[code]));
    samples.class_codes.push_back(static_cast<std::int64_t>(code));
  }
}

}  // namespace

void read_levels(Samples& samples, const std::vector<ModelColumn*>& columns) {
  if (columns.empty()) return;
  const std::string& path = samples.path;
  ReadOptions options = table_read_options(samples.cells);
  for (const ModelColumn* column : columns) options.columns.push_back(reader_choice(*column));
  options.words = options.columns;
  RawTable table = read_table(path, options);
  for (std::size_t k = 0; k < columns.size(); ++k) {
    ModelColumn& column = *columns[k];
    std::vector<std::string> words = std::move(table.dictionaries.at(column.number).words);
    const std::vector<bool> used = words_in_use(samples, table, k, words.size());
    const bool target = !samples.target.empty() && &column == samples.target.data();
    if (target) {
      take_classes(samples, column, std::move(words), used);
    } else {
      for (std::size_t code = 0; code < words.size(); ++code)
        if (!used[code]) samples.unused[column.number].insert(words[code]);
      column.levels = std::move(words);
    }
    if (column.levels.size() > most_levels)
      fail(ExitStatus::bad_input,
           fmt::format("column '{}' holds {} different words", shown_column(column), column.levels.size()),
           fmt::format("each becomes a feature, and a column may have {}", most_levels),
           "leave it out: choose the others with --columns", {path});
    refuse_no_words(column, table.rows, path);
  }
}

namespace {

// Numbers from here on are not all exact as they are read: two classes could become one.
void require_exact(const Samples& samples, const std::string& path, double value) {
  constexpr double first_inexact = 9007199254740992.0;  // 2^53
  if (std::fabs(value) < first_inexact) return;
  fail(ExitStatus::bad_input,
       fmt::format("the target '{}' has a class number of 2^53 or more", shown_column(samples.target[0])),
       "such numbers are not told apart",
       samples.form == TableForm::csv && samples.target_path.empty()
           ? fmt::format("take them as words: --words {}", shown_column(samples.target[0]))
           : "number the classes 0, 1, 2, ...",
       {path});
}

}  // namespace

std::vector<std::string> number_classes(const Samples& samples) {
  const bool alone = !samples.target_path.empty();
  const bool text = samples.form == TableForm::csv && !alone;
  const std::string& path = alone ? samples.target_path : samples.path;
  const RawTable table = read_numbers(path, {&samples.target[0]}, text, samples.cells);
  const std::int64_t place = text || alone || samples.form == TableForm::libsvm ? 0 : samples.target[0].number - 1;
  std::set<double> found;
  double last = std::nan(""), other = last;  // two classes alternate
  for (std::int64_t row = 0; row < table.rows; ++row) {
    const double value = table.values.as<double>()[row * table.cols + place];
    if (value == last || value == other || is_dropped(samples, row)) continue;
    if (!std::isfinite(value))
      fail_cell(path, row, shown_column(samples.target[0]), value,
                !samples.cells.drops() && (text || has_target_in_text(samples)));
    require_exact(samples, path, value);
    other = last;
    found.insert(last = value);
    if (found.size() > most_levels)
      fail(ExitStatus::bad_input,
           fmt::format("the target '{}' holds more than {} different numbers", shown_column(samples.target[0]),
                       most_levels),
           "as classes they are too many", "choose a regression: linear, ridge, poisson", {path});
  }
  std::vector<std::string> classes;
  for (const double value : found) classes.push_back(fmt::format("{}", value));
  return classes;
}

std::int64_t first_features(const std::string& path) {
  TextSource source(path);
  const std::string_view top = source.peek(std::int64_t{1} << 20);
  std::int64_t most = 0, index = 0;
  for (const char c : top) {  // digits before a colon
    if (c == ':') most = std::max(most, index);
    const bool digit = c >= '0' && c <= '9';
    index = digit ? std::min<std::int64_t>(index * 10 + (c - '0'), std::int64_t{1} << 40) : 0;
  }
  return most;
}

void require_finite(const Samples& samples) {
  const bool libsvm = samples.form == TableForm::libsvm;
  if (libsvm) require_finite_entries(samples.path);
  if (!libsvm) require_finite_cells(samples, samples.features);
  if (libsvm || !samples.target_path.empty()) {
    const std::string& path = libsvm ? samples.path : samples.target_path;
    CellRules cells = samples.cells;
    if (cells.fills()) cells.missing = {};  // a target gets no number
    const RawTable table = read_numbers(path, {}, false, cells);
    for (std::int64_t row = 0; row < table.rows * table.cols && !samples.target.empty(); ++row)
      if (const double value = table.values.as<double>()[row]; !std::isfinite(value) && !is_dropped(samples, row))
        fail_cell(path, row, shown_column(samples.target[0]), value, !cells.drops() && has_target_in_text(samples));
  } else {
    require_finite_cells(samples, samples.target);
  }
}

}  // namespace kasen::tools
