// Dense tables in text: comma, semicolon, tab or blanks between cells, as the first lines show. A line of names may be
// on top, and the caller may name columns of words.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_map>
#include <utility>

#include "libcomm/data/read/formats.h"
#include "libcomm/data/table/table_notes.h"
#include "libcomm/data/table/text_rows.h"
#include "libcomm/data/text/first_lines.h"
#include "libcomm/data/text/number_readings.h"
#include "libcore/base/checked.h"

namespace kasen {
namespace {

// Numbers from 1 of the columns in `choices`; all columns if there are none.
std::vector<int> all_or(const std::vector<ColumnChoice>& choices, const FileColumns& columns, const std::string& path) {
  if (!choices.empty()) return chosen_columns(choices, columns, path);
  return chosen_columns({ColumnChoice(1, columns.count)}, columns, path);
}

std::vector<int> without(std::vector<int> columns, std::vector<int> others) {
  std::sort(others.begin(), others.end());
  std::erase_if(columns, [&](int c) { return std::binary_search(others.begin(), others.end(), c); });
  return columns;
}

// The chosen columns of words: those with codes, then those whose words become columns.
std::vector<int> words_of(const ReadOptions& options, const FileColumns& columns, const std::string& path) {
  std::vector<int> words = chosen_columns(options.words, columns, path);
  for (const int column : chosen_columns(options.one_hot, columns, path))
    if (std::find(words.begin(), words.end(), column) == words.end()) words.push_back(column);
  return words;
}

// The chosen columns of dates, in the order of the file.
std::vector<DatesOfColumn> dates_of(const ReadOptions& options, const FileColumns& columns, const std::string& path) {
  std::vector<DatesOfColumn> dates;
  for (const DateChoice& choice : options.dates)
    for (const int column : chosen_columns({choice.column}, columns, path)) {
      const auto same = [&](const DatesOfColumn& other) { return other.column == column; };
      if (std::any_of(dates.begin(), dates.end(), same))
        fail(ExitStatus::usage, fmt::format("column {} is chosen twice", column), "a date is counted in one unit",
             "name it once in --dates", {path});
      dates.push_back({.column = column, .unit = choice.unit});
    }
  return dates;
}

// What to say where no separator cuts the lines.
std::string separator_hint(const FirstLines& first, const ReadOptions& options) {
  if (first.columns() != 1) return "";
  if (!first.odd.empty()) return first.odd;
  const bool commas = options.numbers.uses(',') && first.lines[0].cells[0].find(',') != std::string::npos;
  return commas ? comma_hint(options.numbers) : "cells are separated by commas, semicolons, tabs, | or blanks";
}

FileColumns numbered_columns(const FirstLines& first, const ReadOptions& options) {
  return {.names = {}, .count = first.columns(), .hint = separator_hint(first, options)};
}

// Whether a name stands over a date.
bool names_dates(const FirstLines& first, const ReadOptions& options) {
  if (first.lines.size() < 2) return false;
  const FileColumns columns = numbered_columns(first, options);
  const auto cell = [&](std::size_t line, int column) {
    const auto& cells = first.lines[line].cells;
    return std::cmp_less_equal(column, cells.size()) ? cells[static_cast<size_t>(column) - 1] : std::string();
  };
  const auto is_date = [](const std::string& text) { return date_number(text, DateUnit::days).fault == nullptr; };
  const auto dates = dates_of(options, columns, first.path);
  return std::any_of(dates.begin(), dates.end(), [&](const DatesOfColumn& at) {
    const std::string above = cell(0, at.column);
    return !is_date(above) && !options.missing.is_missing(above) && is_date(cell(1, at.column));
  });
}

// The names of columns that are chosen.
std::vector<std::string> chosen_names(const ReadOptions& options) {
  std::vector<std::string> names;
  const auto add = [&](const ColumnChoice& choice) {
    if (!choice.name.empty()) names.push_back(choice.name);
  };
  for (const auto* choices : {&options.columns, &options.words, &options.one_hot})
    for (const ColumnChoice& choice : *choices) add(choice);
  for (const DateChoice& dates : options.dates) add(dates.column);
  return names;
}

bool has_names(const FirstLines& first, const ReadOptions& options) {
  const bool dates_by_name =
      std::any_of(options.dates.begin(), options.dates.end(), [](const auto& d) { return !d.column.name.empty(); });
  NameRule rule{.wanted = any_by_name(options.columns) || any_by_name(options.words) || any_by_name(options.one_hot) ||
                          dates_by_name || names_dates(first, options),
                .boolean = options.element.is(Scalar::boolean),
                .style = options.numbers,
                .missing = options.missing.marks};
  if (!rule.wanted) {
    const FileColumns columns = numbered_columns(first, options);
    rule.words = words_of(options, columns, first.path);
    for (const DatesOfColumn& dates : dates_of(options, columns, first.path)) rule.words.push_back(dates.column);
    rule.numbers = without(all_or(options.columns, columns, first.path), rule.words);
  }
  return begins_with_names(first, rule);
}

std::string shown_column(int number, const std::string& name) { return name.empty() ? std::to_string(number) : name; }

[[noreturn]] void fail_unknown(const WordsOfColumn& column, const ReadOptions& options, const std::string& path) {
  constexpr std::size_t shown = 12;
  std::vector<std::string> names;
  for (const auto& [number, known] : *options.dictionary)
    if (names.size() < shown) names.push_back(shown_column(number, known.name));
  fail(ExitStatus::bad_input,
       fmt::format("the dictionary '{}' has no column {}", options.dictionary_name,
                   shown_column(column.column, column.known.name)),
       fmt::format("it has {}{}", fmt::join(names, ", "), options.dictionary->size() > shown ? ", ..." : ""),
       "take the dictionary of a file with these columns", {path});
}

// The dictionary's codes for the columns of the file: for those of the same name if both have names, else for those at
// the same position.
void take_codes(std::vector<WordsOfColumn>& columns, const ReadOptions& options, const std::string& path) {
  std::unordered_map<std::string, const WordColumn*> named;
  for (const auto& [number, known] : *options.dictionary)
    if (!known.name.empty()) named.emplace(known.name, &known);
  for (WordsOfColumn& column : columns) {
    const WordColumn* found = nullptr;
    if (!column.known.name.empty() && !named.empty()) {
      if (const auto at = named.find(column.known.name); at != named.end()) found = at->second;
    } else if (const auto at = options.dictionary->find(column.column); at != options.dictionary->end()) {
      found = &at->second;
    }
    if (found == nullptr) fail_unknown(column, options, path);
    column.known.words = found->words;
    column.known.one_hot = column.known.one_hot || found->one_hot;
    column.codes.emplace();
    for (const std::string& word : column.known.words) column.codes->emplace(word, std::ssize(*column.codes));
  }
}

// Columns of dates are taken, hold no words, and become numbers that can hold them.
void check_dates(const TableForm& form, const std::vector<std::int64_t>& place, const ReadOptions& options,
                 const std::string& path) {
  if (!form.dates.empty() && !options.element.is(Scalar::f64))
    fail(ExitStatus::usage, fmt::format("dates are no values of type {}", scalar_name(options.element.scalar())),
         "they become numbers of type f64", "declare the input f64", {path});
  for (const DatesOfColumn& dates : form.dates) {
    const auto is_words = [&](const WordsOfColumn& words) { return words.column == dates.column; };
    if (std::any_of(form.words.begin(), form.words.end(), is_words))
      fail(ExitStatus::usage, fmt::format("column {} holds dates and words", dates.column), "",
           "leave it out of --words, or of --dates", {path});
    if (place[static_cast<size_t>(dates.column)] < 0)
      fail(ExitStatus::usage, fmt::format("column {} holds dates and is not taken", dates.column), "",
           "choose it with --columns, too, or leave it out of --dates", {path});
  }
}

// A last column that is taken, and has neither a name nor a value.
void check_last(const FirstLines& first, const TableForm& form, const std::vector<std::int64_t>& place,
                const ReadOptions& options) {
  const auto ends_empty = [](const auto& line) { return line.cells.size() > 1 && line.cells.back().empty(); };
  if (options.missing.how != MissingRule::How::error || place[form.columns] < 0) return;
  if (!std::all_of(first.lines.begin(), first.lines.end(), ends_empty)) return;
  const std::string shown = shown_delimiter(form.delimiter);
  const auto end = static_cast<std::int64_t>(first.top.find('\n', static_cast<size_t>(first.lines.back().at)));
  fail_in_text(first.path, first.top, 0, std::min(end, std::ssize(first.top)),
               fmt::format("each line ends with {}", shown),
               fmt::format("it would begin column {}, which has no value", form.columns),
               fmt::format("{}; or choose the columns before it", remedy_for_last(form.delimiter)));
}

TableForm form_of(const InputFile& file, const FirstLines& first, const ReadOptions& options) {
  if (first.lines.empty()) fail(ExitStatus::bad_input, "the file has no rows", {}, {}, {file.path()});
  check_title(file.path(), first.head, chosen_names(options), ExitStatus::usage);
  const bool named = has_names(first, options);
  FileColumns columns = numbered_columns(first, options);
  if (named) columns.names = first.lines[0].cells;
  TableForm form{.delimiter = first.delimiter,
                 .from = named ? next_line(first.top, first.lines[0].at) : first.lines[0].at,
                 .taken = {},
                 .names = {},
                 .words = {},
                 .dates = {},
                 .dictionary_name = options.dictionary_name,
                 .missing = options.missing,
                 .numbers = options.numbers,
                 .hint = first.odd,
                 .input = options.input};
  form.columns = static_cast<size_t>(named ? first.columns() : std::ssize(first.lines[0].cells));
  columns.count = static_cast<int>(form.columns);
  form.taken = all_or(options.columns, columns, file.path());
  for (const int column : form.taken)
    if (named) form.names.push_back(columns.names[static_cast<size_t>(column) - 1]);
  std::vector<std::int64_t> place(form.columns + 1, -1);
  for (size_t k = 0; k < form.taken.size(); ++k)
    place[static_cast<size_t>(form.taken[k])] = static_cast<std::int64_t>(k);
  const std::vector<int> one_hot = chosen_columns(options.one_hot, columns, file.path());
  for (const int column : words_of(options, columns, file.path())) {
    const auto c = static_cast<size_t>(column);
    if (place[c] < 0)
      fail(ExitStatus::usage, fmt::format("column {} holds words and is not taken", column), "",
           "choose it with --columns, too, or leave it out of --words", {file.path()});
    WordsOfColumn words{.column = column, .place = place[c], .known = {}, .codes = {}};
    if (named) words.known.name = columns.names[c - 1];
    words.known.one_hot = std::find(one_hot.begin(), one_hot.end(), column) != one_hot.end();
    form.words.push_back(std::move(words));
  }
  if (options.dictionary != nullptr) take_codes(form.words, options, file.path());
  form.dates = dates_of(options, columns, file.path());
  check_dates(form, place, options, file.path());
  check_last(first, form, place, options);
  return form;
}

RawTable make_table_by_column(std::int64_t rows, std::int64_t cols, const ReadOptions& options,
                              const std::string& path) {
  const Scalar scalar = options.element.scalar();
  const std::int64_t bytes = checked_mul(checked_mul(rows, cols, "the table's size"), scalar_bytes(scalar));
  check_memory(bytes, "the table", path);
  return {.rows = rows, .cols = cols, .values = Array(ElementType::array(scalar, cols), rows)};
}

}  // namespace

RawTable make_table(std::int64_t rows, std::int64_t cols, const ReadOptions& options, const std::string& path) {
  const Scalar scalar = options.element.scalar();
  RawTable table;
  table.rows = rows;
  table.cols = cols;
  const std::int64_t count = checked_mul(rows, cols, "the table's size");
  check_memory(checked_mul(count, scalar_bytes(scalar), "the table's size"), "the table", path);
  table.values = Array(ElementType::of(scalar), count);
  return table;
}

void fail_element(const std::string& path, std::int64_t i, std::int64_t cols, Scalar wanted, std::string_view type) {
  fail(ExitStatus::bad_input,
       fmt::format("element [{}, {}] does not fit type {}", i / cols, i % cols, scalar_name(wanted)),
       fmt::format("the file's type is {}", type), "declare a wider type", {path});
}

namespace {

// The mean of a column over its rows that have a value, summed in their order.
double mean_of(const TextRows& rows, const RawTable& table, std::int64_t place,
               const std::vector<MissingCell>& missing) {
  const bool f32 = table.values.element.plane_scalar(0) == Scalar::f32;
  const std::byte* const plane = table.values.plane(rows.by_column() ? place : 0);
  long double sum = 0;
  auto next = missing.begin();
  for (std::int64_t row = 0; row < table.rows; ++row) {
    while (next != missing.end() && (next->row < row || next->place != place)) ++next;
    if (next != missing.end() && next->row == row) continue;
    const std::int64_t i = rows.by_column() ? row : row * table.cols + place;
    sum += f32 ? reinterpret_cast<const float*>(plane)[i] : reinterpret_cast<const double*>(plane)[i];
  }
  const auto without = std::count_if(missing.begin(), missing.end(), [&](const auto& m) { return m.place == place; });
  if (without == table.rows)
    fail(ExitStatus::bad_input,
         fmt::format("column {} has no value at all", rows.form().taken[static_cast<std::size_t>(place)]),
         "its mean stands for what is missing", "leave the column out: --columns", {rows.path()});
  return static_cast<double>(sum / static_cast<long double>(table.rows - without));
}

// Puts means in the place of missing values. Each column's cells are in the order of the rows.
void fill_means(const TextRows& rows, const std::vector<MissingCell>& missing, RawTable& table) {
  std::vector<std::int64_t> places;
  for (const MissingCell& cell : missing) places.push_back(cell.place);
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  const Scalar scalar = table.values.element.plane_scalar(0);
  for (const std::int64_t place : places) {
    const double mean = mean_of(rows, table, place, missing);
    for (const MissingCell& cell : missing)
      if (cell.place == place)
        (void)store_number(scalar, mean, table.values.plane(rows.by_column() ? place : 0),
                           rows.by_column() ? cell.row : cell.row * table.cols + place);
  }
}

void settle_missing(const TextRows& rows, const std::vector<PieceWords>& pieces, RawTable& table) {
  std::vector<MissingCell> missing;
  for (const PieceWords& piece : pieces) missing.insert(missing.end(), piece.missing.begin(), piece.missing.end());
  if (rows.form().missing.how == MissingRule::How::mean) return fill_means(rows, missing, table);
  for (const MissingCell& cell : missing)
    if (table.left_out.empty() || table.left_out.back() != cell.row) table.left_out.push_back(cell.row);
}

void check_missing(const ReadOptions& options, const std::string& path) {
  const Scalar scalar = options.element.scalar();
  const bool whole = scalar != Scalar::f64 && scalar != Scalar::f32;
  if (options.missing.how == MissingRule::How::mean && whole)
    fail(ExitStatus::usage, fmt::format("a mean is no value of type {}", scalar_name(scalar)),
         "missing values would get one", "declare the input f64, or give a value: --missing NAME=0", {path});
  if (options.missing.how != MissingRule::How::value) return;
  const std::string& text = options.missing.value;
  const std::string line = text + '\n' + std::string(static_cast<std::size_t>(text_padding), '\0');
  std::array<std::byte, 8> value{};
  bool good = !text.empty();
  try {
    good = good && parser_of(scalar)(line.data(), value.data(), 0) == line.data() + text.size();
  } catch (const TextFault&) {
    good = false;
  }
  if (!good)
    fail(ExitStatus::usage, fmt::format("'{}' is not a value of type {}", text, scalar_name(scalar)),
         "missing values would get it", "give error, drop, mean, or a number", {path});
}

// Gives words columns of their own, where that is wanted.
void widen(const TableForm& form, RawTable& table, const std::string& path) {
  std::vector<const WordColumn*> words;
  std::vector<std::string> names = form.names;
  for (const int column : form.taken) {
    if (form.names.empty()) names.push_back(std::to_string(column));
    const auto known = table.dictionaries.find(column);
    const bool one_hot = known != table.dictionaries.end() && known->second.one_hot;
    words.push_back(one_hot ? &known->second : nullptr);
  }
  if (std::all_of(words.begin(), words.end(), [](const WordColumn* w) { return w == nullptr; })) return;
  NamedValues wide = one_hot_columns(table.values, table.rows, names, words, path);
  table.values = std::move(wide.values);
  table.cols = wide.columns;
  table.column_names = std::move(wide.names);
}

// The rows of a table that others see together.
RawTable all_rows(const TextRows& rows, const ReadOptions& options) {
  RawTable table = rows.by_column() ? make_table_by_column(rows.count(), rows.width(), options, rows.path())
                                    : make_table(rows.count(), rows.width(), options, rows.path());
  std::vector<std::byte*> planes;
  for (std::int64_t p = 0; p < table.values.element.planes(); ++p) planes.push_back(table.values.plane(p));
  const std::vector<PieceWords> pieces = rows.parse_to(planes);
  const std::vector<WordsOfColumn>& words = rows.form().words;
  settle_missing(rows, pieces, table);
  for (size_t k = 0; k < words.size(); ++k)
    table.dictionaries[words[k].column] = store_words(words[k], k, pieces, table.values, table.cols, rows.path());
  widen(rows.form(), table, rows.path());
  return table;
}

}  // namespace

RawTable read_csv(TextSource& source, const ReadOptions& options) {
  check_missing(options, source.path());
  InputFile file(source);
  const FirstLines first = first_lines(file.path(), file.text(), true, options.numbers);
  TableForm form = form_of(file, first, options);
  std::vector<std::string> notes{head_note(first, form)};
  const bool by_column = options.by_column && form.taken.size() > 1 && form.words.empty();
  const bool settled = options.missing.how == MissingRule::How::drop || options.missing.how == MissingRule::How::mean;
  const bool later = options.may_wait && form.words.empty() && !settled;
  const auto rows = std::make_shared<const TextRows>(std::move(file), std::move(form), options.element.scalar(),
                                                     by_column, options.progress);
  RawTable table;
  if (later) {
    table = {.rows = rows->count(), .cols = rows->width()};
    table.values.element = by_column ? ElementType::array(options.element.scalar(), table.cols)
                                     : ElementType::of(options.element.scalar());
    table.later = rows;
  } else {
    table = all_rows(*rows, options);
  }
  if (table.column_names.empty()) table.column_names = rows->form().names;
  table.digest = rows->digest();
  notes.push_back(comments_note(*rows));
  std::erase(notes, "");
  table.notes = std::move(notes);
  return table;
}

}  // namespace kasen
