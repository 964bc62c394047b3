#include "tools/fit/table_reads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string_view>

#include "libcomm/data/read/npy_header.h"
#include "libcomm/data/read/readers.h"
#include "libcomm/data/text/text_source.h"
#include "libcore/base/error.h"

namespace kasen::tools {
namespace {

ReadOptions table_options() {
  ReadOptions options;
  options.element = ElementType::of(Scalar::f64);
  options.sparse = false;
  options.input.clear();
  return options;
}

// The columns of numbers of a table, row by row; of LIBSVM its labels.
RawTable read_numbers(const std::string& path, const std::vector<const ModelColumn*>& columns, bool text) {
  ReadOptions options = table_options();
  for (const ModelColumn* column : columns)
    if (text) options.columns.push_back(reader_choice(*column));
  return read_table(path, options);
}

[[noreturn]] void fail_cell(const std::string& path, std::int64_t row, const std::string& column, double value) {
  fail(ExitStatus::bad_input, fmt::format("row {} of the table has {} in column '{}'", row + 1, value, column),
       "a model needs a finite number in every cell", "fill it in, or leave the row out", {path});
}

void require_finite_cells(const Samples& samples, const std::vector<ModelColumn>& columns) {
  std::vector<const ModelColumn*> numbers;
  for (const ModelColumn& column : columns)
    if (column.levels.empty()) numbers.push_back(&column);
  if (numbers.empty()) return;
  const bool text = samples.form == TableForm::csv;
  const RawTable table = read_numbers(samples.path, numbers, text);
  const auto* const values = table.values.as<double>();
  for (std::int64_t row = 0; row < table.rows; ++row) {
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      const std::int64_t place = text ? static_cast<std::int64_t>(k) : numbers[k]->number - 1;
      const double value = values[row * table.cols + place];
      if (!std::isfinite(value)) fail_cell(samples.path, row, shown_column(*numbers[k]), value);
    }
  }
}

// The features of LIBSVM.
void require_finite_entries(const std::string& path) {
  ReadOptions options = table_options();
  options.labels = false;
  const RawTable table = read_table(path, options);
  for (std::int64_t k = 0; k < table.rows * table.cols; ++k)
    if (const double value = table.values.as<double>()[k]; !std::isfinite(value))
      fail_cell(path, k / table.cols, std::to_string(k % table.cols + 1), value);
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
    fail(ExitStatus::bad_input, fmt::format("the array is over {} axes", header.shape.size()),
         "a table has rows and columns", "save it as array.reshape(len(array), -1)", {path});
  return static_cast<int>(header.shape[1]);
}

ColumnChoice reader_choice(const ModelColumn& column) {
  return column.name.empty() ? ColumnChoice(column.number) : ColumnChoice(column.name);
}

namespace {

// "1,5", "-12,25"
bool has_decimal_comma(const std::string& word) {
  const size_t sign = word.find_first_of("+-") == 0 ? 1 : 0, comma = word.find(',');
  const auto digits = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  const std::string_view text = word;
  return comma != std::string::npos && digits(text.substr(sign, comma - sign)) && digits(text.substr(comma + 1));
}

// A feature for each word of these would fit anything.
void refuse_no_words(const ModelColumn& column, std::int64_t rows, const std::string& path) {
  constexpr std::int64_t few = 20;
  if (std::all_of(column.levels.begin(), column.levels.end(), has_decimal_comma)) {
    fail(ExitStatus::bad_input, fmt::format("column '{}' holds numbers with a decimal comma", shown_column(column)), {},
         "write them with a decimal point, as sed 's/,/./g' does where no other commas are", {path});
  }
  if (rows >= few && std::ssize(column.levels) == rows) {
    fail(ExitStatus::bad_input, fmt::format("column '{}' has another word in each row", shown_column(column)),
         "each would become a feature of one row", "leave it out: choose the others with --columns", {path});
  }
}

}  // namespace

void read_levels(const std::string& path, const std::vector<ModelColumn*>& columns) {
  if (columns.empty()) return;
  ReadOptions options = table_options();
  for (const ModelColumn* column : columns) options.columns.push_back(reader_choice(*column));
  options.words = options.columns;
  RawTable table = read_table(path, options);
  for (ModelColumn* column : columns) {
    column->levels = std::move(table.dictionaries.at(column->number).words);
    if (column->levels.size() > most_levels)
      fail(ExitStatus::bad_input,
           fmt::format("column '{}' holds {} different words", shown_column(*column), column->levels.size()),
           fmt::format("each becomes a feature, and a column may have {}", most_levels),
           "leave it out: choose the others with --columns", {path});
    refuse_no_words(*column, table.rows, path);
  }
}

std::vector<std::string> number_classes(const Samples& samples) {
  const bool alone = !samples.target_path.empty();
  const bool text = samples.form == TableForm::csv && !alone;
  const std::string& path = alone ? samples.target_path : samples.path;
  const RawTable table = read_numbers(path, {&samples.target[0]}, text);
  const std::int64_t place = text || alone || samples.form == TableForm::libsvm ? 0 : samples.target[0].number - 1;
  std::set<double> found;
  double last = std::nan(""), other = last;  // two classes alternate
  for (std::int64_t row = 0; row < table.rows; ++row) {
    const double value = table.values.as<double>()[row * table.cols + place];
    if (value == last || value == other) continue;
    if (!std::isfinite(value)) fail_cell(path, row, shown_column(samples.target[0]), value);
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
    const RawTable table = read_numbers(path, {}, false);
    for (std::int64_t row = 0; row < table.rows * table.cols && !samples.target.empty(); ++row)
      if (const double value = table.values.as<double>()[row]; !std::isfinite(value))
        fail_cell(path, row, shown_column(samples.target[0]), value);
  } else {
    require_finite_cells(samples, samples.target);
  }
}

}  // namespace kasen::tools
