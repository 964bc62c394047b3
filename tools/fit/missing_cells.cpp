// What becomes of the missing cells of a model's table.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "libcomm/data/read/readers.h"
#include "libcore/base/error.h"
#include "tools/fit/table_reads.h"

namespace kasen::tools {
namespace {

using How = MissingRule::How;
using RowNumbers = std::vector<std::int64_t>;

struct RowsWithout {
  RowNumbers out;
  std::int64_t count = 0;  // of all rows
};

// The rows in which one of these columns has no value; without columns those of a file of one.
RowsWithout rows_without(const std::string& path, const CellRules& cells,
                         const std::vector<const ModelColumn*>& columns, const std::set<int>& words) {
  ReadOptions options = table_read_options(cells);
  options.missing.how = How::drop;
  for (const ModelColumn* column : columns) {
    options.columns.push_back(reader_choice(*column));
    if (words.contains(column->number)) options.words.push_back(reader_choice(*column));
  }
  RawTable table = read_table(path, options);
  return {std::move(table.left_out), table.rows};
}

bool has_own_target(const Samples& samples) { return !samples.target.empty() && samples.target_path.empty(); }

std::vector<const ModelColumn*> columns_of_table(const Samples& samples) {
  std::vector<const ModelColumn*> columns;
  for (const ModelColumn& column : samples.features) columns.push_back(&column);
  if (has_own_target(samples)) columns.push_back(&samples.target[0]);
  return columns;
}

void drop_rows_of(Samples& samples, const std::set<int>& words) {
  RowsWithout without;
  if (samples.form == TableForm::csv)
    without = rows_without(samples.path, samples.cells, columns_of_table(samples), words);
  if (has_target_in_text(samples)) {
    const RowsWithout of_target = rows_without(samples.target_path, samples.cells, {}, {});
    RowNumbers both;
    std::set_union(without.out.begin(), without.out.end(), of_target.out.begin(), of_target.out.end(),
                   std::back_inserter(both));
    without = {std::move(both), of_target.count};
  }
  if (!without.out.empty() && std::ssize(without.out) == without.count)
    fail(ExitStatus::bad_input, "each row of the table lacks a value", "no row is left",
         "take other columns (--columns), or put a number there: --missing mean, --missing 0", {samples.path});
  samples.dropped = std::move(without.out);
}

void refuse_rows(const std::string& path, const RowsWithout& without, const std::string& column,
                 const std::string& why) {
  if (without.out.empty()) return;
  fail(ExitStatus::bad_input,
       fmt::format("row {} of the table has no value{}", without.out[0] + 1,
                   column.empty() ? "" : fmt::format(" in column '{}'", column)),
       why, "leave such rows out: --missing drop", {path});
}

void require_targets(const Samples& samples, const std::set<int>& words) {
  const std::string why = "--missing puts a number in place of features, not of what the model learns from";
  if (samples.form == TableForm::csv && has_own_target(samples))
    refuse_rows(samples.path, rows_without(samples.path, samples.cells, {&samples.target[0]}, words),
                shown_column(samples.target[0]), why);
  if (has_target_in_text(samples))
    refuse_rows(samples.target_path, rows_without(samples.target_path, samples.cells, {}, {}),
                shown_column(samples.target[0]), why);
}

// A marked cell is no number, also where no rule says what it becomes.
void refuse_marked(const Samples& samples, const std::set<int>& words) {
  std::vector<const ModelColumn*> numbers = columns_of_table(samples);
  std::erase_if(numbers, [&](const ModelColumn* column) { return words.contains(column->number); });
  if (samples.cells.missing.marks.empty() || samples.form != TableForm::csv || numbers.empty()) return;
  refuse_rows(samples.path, rows_without(samples.path, samples.cells, numbers, {}), "",
              "--missing says what such a cell becomes");
}

// Keeps the indices of one axis that `keep` marks.
void keep_along(ModelArray& array, std::size_t axis, const std::vector<bool>& keep) {
  std::size_t inner = 1;
  for (std::size_t k = axis + 1; k < array.extents.size(); ++k) inner *= static_cast<std::size_t>(array.extents[k]);
  std::size_t place = 0;
  std::erase_if(array.values, [&](double) { return !keep[place++ / inner % keep.size()]; });
  array.extents[axis] = std::count(keep.begin(), keep.end(), true);
}

}  // namespace

void leave_out_unused(Model& model, const Samples& samples) {
  if (samples.unused.empty()) return;
  std::vector<bool> keep;
  for (ModelColumn& column : model.features) {
    const auto unused = samples.unused.find(column.number);
    const auto is_unused = [&](const std::string& word) {
      return unused != samples.unused.end() && unused->second.contains(word);
    };
    if (column.levels.empty()) keep.push_back(true);
    for (const std::string& word : column.levels) keep.push_back(!is_unused(word));
    std::erase_if(column.levels, is_unused);
  }
  for (const auto& [name, axis] :
       std::map<std::string, std::size_t>{{"coefficients", 0}, {"centres", 1}, {"components", 0}, {"centre", 0}})
    if (const auto array = model.arrays.find(name); array != model.arrays.end()) keep_along(array->second, axis, keep);
}

bool has_target_in_text(const Samples& samples) {
  if (samples.target_path.empty()) return false;
  const FileFormat format = detect_format(samples.target_path);
  return format == FileFormat::csv || format == FileFormat::edge_list;
}

void settle_missing(Samples& samples, const std::set<int>& words) {
  if (samples.cells.drops()) return drop_rows_of(samples, words);
  if (samples.cells.fills()) return require_targets(samples, words);
  refuse_marked(samples, words);
}

void take_means(Samples& samples, const std::set<int>& words) {
  std::vector<ModelColumn*> numbers;
  for (ModelColumn& column : samples.features)
    if (!words.contains(column.number)) numbers.push_back(&column);
  if (samples.form != TableForm::csv || numbers.empty()) return;
  ReadOptions options = table_read_options(samples.cells);
  options.missing.how = How::value;
  options.missing.value = "nan";
  for (const ModelColumn* column : numbers) options.columns.push_back(reader_choice(*column));
  const RawTable table = read_table(samples.path, options);
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    long double sum = 0;
    std::int64_t count = 0;
    for (std::int64_t row = 0; row < table.rows; ++row) {
      const double value = table.values.as<double>()[row * table.cols + static_cast<std::int64_t>(k)];
      if (std::isnan(value)) continue;
      sum += value;
      ++count;
    }
    if (count == 0)
      fail(ExitStatus::bad_input, fmt::format("column '{}' has no value at all", shown_column(*numbers[k])),
           "its mean stands for what is missing", "leave it out: choose the others with --columns", {samples.path});
    numbers[k]->mean = static_cast<double>(sum / static_cast<long double>(count));
  }
}

}  // namespace kasen::tools
