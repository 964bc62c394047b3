#include "libcomm/data/read/word_entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "libcomm/data/read/entries.h"
#include "libcomm/data/text/table_head.h"
#include "libcomm/data/text/text_source.h"
#include "libcore/base/count_text.h"
#include "libcore/base/error.h"

namespace kasen {
namespace {

// What a column of the file is.
struct EntryRole {
  int number = 0;
  ColumnChoice choice = 0;
  bool words = false;
};

// The row, the column and, if there is one, the value.
std::vector<EntryRole> roles_of(const std::string& path, const ReadOptions& options) {
  const int values = value_planes(options.element);
  if (values > 1)
    fail(ExitStatus::bad_input, "words beside entries of several values", "an entry of words has one value or none",
         "number the words, or read a matrix for each value", {path});
  HeadCells cells;
  for (const auto* choices : {&options.columns, &options.words})
    for (const ColumnChoice& choice : *choices)
      if (!choice.name.empty()) cells.wanted.push_back(choice.name);
  const TableHead head = read_table_head(path, !cells.wanted.empty(), cells);
  FileColumns columns{.names = {}, .count = static_cast<int>(head.columns.size())};
  if (head.named)
    for (const HeadColumn& column : head.columns) columns.names.push_back(column.name);
  const std::vector<ColumnChoice> usual{ColumnChoice(1, 2 + values)};
  const std::vector<int> taken = chosen_columns(options.columns.empty() ? usual : options.columns, columns, path);
  if (std::ssize(taken) != 2 + values)
    fail(ExitStatus::usage, fmt::format("{} for the entries of a matrix", count_text(std::ssize(taken), "column")),
         values > 0 ? "an entry is a row, a column and a value" : "an entry is a row and a column",
         fmt::format("choose {}, as --columns NAME=1,2{}", 2 + values, values > 0 ? ",3" : ""), {path});
  std::vector<EntryRole> roles;
  for (const int number : taken) {
    const std::string& name = head.columns[static_cast<std::size_t>(number) - 1].name;
    roles.push_back({number, head.named && !name.empty() ? ColumnChoice(name) : ColumnChoice(number)});
  }
  for (const int number : chosen_columns(options.words, columns, path)) {
    const auto role =
        std::find_if(roles.begin(), roles.begin() + 2, [&](const EntryRole& r) { return r.number == number; });
    if (role == roles.begin() + 2)
      fail(ExitStatus::usage, fmt::format("column {} holds words, and is no row or column of the matrix", number), "",
           "leave it out of --words, or choose it with --columns", {path});
    role->words = true;
  }
  return roles;
}

ReadOptions column_options(const ReadOptions& all, const EntryRole& role, const ElementType& element) {
  ReadOptions options = all;
  options.sparse = false;
  options.element = element;
  options.columns = {role.choice};
  options.words.clear();
  if (role.words) options.words = {role.choice};
  options.spill = nullptr;
  options.may_stay = options.may_wait = options.by_column = false;
  return options;
}

void require_numbers(const RawTable& ids, const EntryRole& role, const std::string& path) {
  const auto* const id = ids.values.as<std::int64_t>();
  for (std::int64_t k = 0; k < ids.rows; ++k)
    if (id[k] < 0)
      fail(ExitStatus::bad_input, fmt::format("row {} of column {} is {}", k + 1, role.number, id[k]),
           "rows and columns of a matrix are numbered from 0, or words", "say so of words: --words", {path});
}

// Names an entry that stands twice, where its values may not be combined.
void require_one_of_each(const std::vector<std::int64_t>& rows, const std::vector<std::int64_t>& cols,
                         const std::string& path) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (std::size_t k = 0; k < rows.size(); ++k) pairs.emplace_back(rows[k], cols[k]);
  std::vector<std::pair<std::int64_t, std::int64_t>> sorted = pairs;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice == sorted.end()) return;
  const auto first = std::find(pairs.begin(), pairs.end(), *twice), second = std::find(first + 1, pairs.end(), *twice);
  fail(ExitStatus::bad_input,
       fmt::format("rows {} and {} are one entry", first - pairs.begin() + 1, second - pairs.begin() + 1),
       "an entry has one value", "add --repeats sum, first, last, min or max", {path});
}

std::vector<std::int64_t> ids_of(const RawTable& ids) {
  const auto* const id = ids.values.as<std::int64_t>();
  return {id, id + ids.rows};
}

}  // namespace

RawInput read_word_entries(const std::string& path, const ReadOptions& options) {
  if (options.spill != nullptr)
    fail(ExitStatus::usage, "words of a matrix are read in memory", "they are sorted before the entries are known",
         "leave out --memory, or number the words", {path});
  const std::vector<EntryRole> roles = roles_of(path, options);
  std::vector<ReadOptions> columns;
  for (std::size_t k = 0; k < roles.size(); ++k)
    columns.push_back(column_options(options, roles[k], k < 2 ? ElementType::of(Scalar::i64) : options.element));
  std::vector<RawInput> read = read_inputs(path, columns);
  RawInput made;
  made.matrix.digest = read[0].table.digest;
  for (std::size_t k = 0; k < roles.size(); ++k) {
    if (read[k].table.rows != read[0].table.rows)
      fail(ExitStatus::bad_input, "columns of one file have different numbers of rows", "its first line is not clear",
           "choose columns by their names, or put # before the first line", {path});
    if (k >= 2) continue;
    if (!roles[k].words) require_numbers(read[k].table, roles[k], path);
    for (auto& [number, known] : read[k].table.dictionaries) made.table.dictionaries[number] = std::move(known);
  }
  made.matrix.row_words = roles[0].words ? roles[0].number : 0;
  made.matrix.col_words = roles[1].words ? roles[1].number : 0;
  const std::vector<std::int64_t> rows = ids_of(read[0].table), cols = ids_of(read[1].table);
  const bool valued = roles.size() > 2;
  if (valued && options.repeats == Repeats::refuse) require_one_of_each(rows, cols, path);
  const Array none(options.element, std::ssize(rows));
  made.matrix.entries = EntryList(rows, cols, valued ? read[2].table.values : none);
  combine_repeats(made.matrix.entries, options, {}, TextSource(path));
  for (const EntryChunk& chunk : made.matrix.entries.chunks) {
    made.matrix.row_count = std::max(made.matrix.row_count, chunk.rows.largest() + 1);
    made.matrix.col_count = std::max(made.matrix.col_count, chunk.cols.largest() + 1);
  }
  return made;
}

}  // namespace kasen
