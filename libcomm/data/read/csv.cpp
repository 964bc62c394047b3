// Dense tables in text: comma, semicolon, tab or blanks between cells, as the first lines show. A line of names may be
// on top, and the caller may name columns of words.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "libcomm/data/read/formats.h"
#include "libcomm/data/read/table_words.h"
#include "libcomm/data/text/first_lines.h"
#include "libcore/base/checked.h"
#include "libcore/base/count_text.h"
#include "libcore/base/suggest.h"

namespace kasen {
namespace {

struct TableForm {
  char delimiter = ' ';
  std::int64_t from = 0;    // byte of the first row
  std::size_t columns = 0;  // of the file
  std::vector<int> taken;   // columns of the file, from 1, in the order of the result
  std::vector<WordsOfColumn> words;
};

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

bool has_names(const FirstLines& first, const ReadOptions& options) {
  NameRule rule{.wanted = any_by_name(options.columns) || any_by_name(options.words),
                .boolean = options.element.is(Scalar::boolean)};
  if (!rule.wanted) {
    const FileColumns columns{.names = {}, .count = first.columns()};
    rule.words = chosen_columns(options.words, columns, first.path);
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
    column.codes.emplace();
    for (const std::string& word : column.known.words) column.codes->emplace(word, std::ssize(*column.codes));
  }
}

TableForm layout_of(const InputFile& file, const ReadOptions& options) {
  const FirstLines first = first_lines(file.path(), file.text(), true);
  if (first.lines.empty()) fail(ExitStatus::bad_input, "the file has no rows", {}, {}, {file.path()});
  const bool named = has_names(first, options);
  FileColumns columns{.names = {}, .count = first.columns()};
  if (named) columns.names = first.lines[0].cells;
  TableForm layout{.delimiter = first.delimiter, .from = first.lines[named ? 1 : 0].at, .taken = {}, .words = {}};
  layout.columns = static_cast<size_t>(named ? first.columns() : std::ssize(first.lines[0].cells));
  columns.count = static_cast<int>(layout.columns);
  layout.taken = all_or(options.columns, columns, file.path());
  std::vector<std::int64_t> place(layout.columns + 1, -1);
  for (size_t k = 0; k < layout.taken.size(); ++k)
    place[static_cast<size_t>(layout.taken[k])] = static_cast<std::int64_t>(k);
  for (const int column : chosen_columns(options.words, columns, file.path())) {
    const auto c = static_cast<size_t>(column);
    if (place[c] < 0)
      fail(ExitStatus::usage, fmt::format("column {} holds words and is not taken", column), "",
           "choose it with --columns, too, or leave it out of --words", {file.path()});
    WordsOfColumn words{.column = column, .place = place[c], .known = {}, .codes = {}};
    if (named) words.known.name = columns.names[c - 1];
    layout.words.push_back(std::move(words));
  }
  if (options.dictionary != nullptr) take_codes(layout.words, options, file.path());
  return layout;
}

// Some rows of a table by column, row-major until they are moved to its planes: parsed one by one into many planes,
// they would meet in few sets of the caches.
class RowBlock {
 public:
  RowBlock(Array& values, std::int64_t first_row)
      : values_(values),
        width_(values.element.planes()),
        bytes_(scalar_bytes(values.element.plane_scalar(0))),
        capacity_(std::max<std::int64_t>(1, block_bytes / (width_ * bytes_))),
        first_(first_row),
        numbers_(static_cast<size_t>(capacity_ * width_ * bytes_)) {}

  [[nodiscard]] std::byte* plane() { return numbers_.data(); }
  // The number within the block of a row of the table. Rows come one after another.
  [[nodiscard]] std::int64_t place(std::int64_t row) {
    if (row == first_ + capacity_) move(row);
    return row - first_;
  }
  // Moves the rows before `next`, which is the first of a new block.
  void move(std::int64_t next) {
    for (std::int64_t p = 0; p < width_; ++p) {
      std::byte* to = values_.plane(p) + first_ * bytes_;
      const std::byte* from = numbers_.data() + p * bytes_;
      for (std::int64_t r = first_; r < next; ++r, to += bytes_, from += width_ * bytes_) copy(from, to);
    }
    first_ = next;
  }

 private:
  static constexpr std::int64_t block_bytes = 16 << 10;

  void copy(const std::byte* from, std::byte* to) const {
    if (bytes_ == 8) {
      std::memcpy(to, from, 8);
    } else {
      std::memcpy(to, from, static_cast<size_t>(bytes_));
    }
  }

  Array& values_;
  std::int64_t width_, bytes_, capacity_, first_;
  std::vector<std::byte> numbers_;
};

class TableParser {
 public:
  TableParser(const TableForm& layout, RawTable& table, const ReadOptions& options)
      : layout_(layout),
        options_(options),
        table_(table),
        parse_(parser_of(table.values.element.plane_scalar(0))),
        columns_(layout.columns) {
    for (size_t k = 0; k < layout.taken.size(); ++k)
      columns_[static_cast<size_t>(layout.taken[k]) - 1].place = static_cast<std::int64_t>(k);
    for (size_t k = 0; k < layout.words.size(); ++k)
      columns_[static_cast<size_t>(layout.words[k].column) - 1].words = static_cast<std::int64_t>(k);
  }

  [[nodiscard]] PieceWords parse(const Piece& piece) const {
    std::optional<RowBlock> block;
    if (table_.by_column()) block.emplace(table_.values, piece.first_line);
    std::byte* const plane = block ? block->plane() : table_.values.plane(0);
    PieceWords found;
    found.met.resize(layout_.words.size());
    found.numbers.resize(layout_.words.size());
    for (const char* p = piece.begin; p < piece.end; ++p) {
      const char* const start = skip_blanks(p);
      if (*start == '\n' || *start == '#' || *start == '%') {
        p = static_cast<const char*>(std::memchr(start, '\n', static_cast<size_t>(piece.end - start)));
      } else {
        const std::int64_t number = piece.first_line + found.rows;
        p = row(p, plane, block ? block->place(number) : number, found);
        ++found.rows;
      }
    }
    if (block) block->move(piece.first_line + found.rows);
    return found;
  }

 private:
  struct Column {
    std::int64_t place = -1;  // in the result
    std::int64_t words = -1;  // in TableForm::words
  };

  const char* row(const char* line, std::byte* plane, std::int64_t row, PieceWords& found) const {
    Cells cells(line, layout_.delimiter);
    const auto width = static_cast<std::int64_t>(layout_.taken.size());
    for (size_t c = 0; c < columns_.size(); ++c) {
      const bool number = columns_[c].place >= 0 && columns_[c].words < 0;
      const bool there = number ? next_number(cells, c, plane, row * width + columns_[c].place) : cells.next();
      if (!there)
        fail_text(cells.line_end(),
                  fmt::format("the row has {}, and the first has {}", count_text(c, "column"), columns_.size()));
      if (columns_[c].words >= 0) take_word(cells, static_cast<size_t>(columns_[c].words), found);
    }
    if (cells.next()) {
      fail_text(cells.begin, fmt::format("the row has more columns than the first, which has {}", columns_.size()));
    }
    return cells.line_end();
  }

  bool next_number(Cells& cells, size_t c, std::byte* plane, std::int64_t i) const {
    try {
      return cells.next_number(parse_, plane, i);
    } catch (TextFault& fault) {
      if (fault.remedy.empty())
        fault.remedy = fmt::format(
            "write a number, with a decimal point and nothing else; if column {} holds words, say so: --words INPUT={}",
            c + 1, c + 1);
      throw;
    }
  }

  void take_word(const Cells& cells, size_t k, PieceWords& found) const {
    if (cells.text().empty() && !cells.quoted()) Cells::fail_missing(cells.begin);
    MetWords& met = found.met[k];
    const size_t before = met.words().size();
    found.numbers[k].push_back(met.number(cells));
    if (met.words().size() > before) check_known(cells, layout_.words[k], met.words().back());
  }

  void check_known(const Cells& cells, const WordsOfColumn& column, std::string_view word) const {
    if (!column.codes || column.codes->contains(word)) return;
    const std::string near = nearest_name(word, column.known.words);
    fail_text(
        cells.begin, fmt::format("'{}' is no word of the dictionary '{}'", word, options_.dictionary_name),
        near.empty() ? fmt::format("which has {} words for this column", column.known.words.size())
                     : fmt::format("did you mean '{}'?", near),
        "leave the row out, or add the word at the end of its list: results computed without it know no such code");
  }

  const TableForm& layout_;
  const ReadOptions& options_;
  RawTable& table_;
  ParseInto parse_;
  std::vector<Column> columns_;  // of the file
};

RawTable make_table_by_column(std::int64_t rows, std::int64_t cols, const ReadOptions& options,
                              const std::string& path) {
  const Scalar scalar = options.element.scalar();
  const std::int64_t bytes = checked_mul(checked_mul(rows, cols, "the table's size"), scalar_bytes(scalar));
  check_memory(bytes, "the table", path);
  return {.rows = rows, .cols = cols, .values = Array(ElementType::array(scalar, cols), rows)};
}

// Closes the holes that comments and blank lines left behind each piece's rows.
RawTable without_holes(const RawTable& table, const TextPieces& text, const std::vector<PieceWords>& pieces,
                       const ReadOptions& options, const std::string& path) {
  RawTable dense = table.by_column() ? make_table_by_column(table.rows, table.cols, options, path)
                                     : make_table(table.rows, table.cols, options, path);
  const std::int64_t planes = table.values.element.planes();
  const std::int64_t width = table.cols / planes * scalar_bytes(options.element.scalar());
  for (std::int64_t p = 0; p < planes; ++p) {
    std::byte* to = dense.values.plane(p);
    for (size_t n = 0; n < pieces.size(); ++n)
      to = std::copy_n(table.values.plane(p) + text.pieces()[n].first_line * width, pieces[n].rows * width, to);
  }
  return dense;
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

RawTable read_csv(TextSource& source, const ReadOptions& options) {
  const InputFile file(source);
  const TableForm layout = layout_of(file, options);
  const TextPieces text(file, layout.from);
  const auto width = std::ssize(layout.taken);
  const bool by_column = options.by_column && width > 1 && layout.words.empty();
  RawTable table = by_column ? make_table_by_column(text.lines(), width, options, file.path())
                             : make_table(text.lines(), width, options, file.path());
  const TableParser parser(layout, table, options);
  std::vector<PieceWords> pieces(text.pieces().size());
  text.for_each(options.progress,
                [&](const Piece& piece, std::int64_t n) { pieces[static_cast<size_t>(n)] = parser.parse(piece); });
  table.rows = 0;
  for (const PieceWords& piece : pieces) table.rows += piece.rows;
  if (table.rows < text.lines()) table = without_holes(table, text, pieces, options, file.path());
  for (size_t k = 0; k < layout.words.size(); ++k)
    table.dictionaries[layout.words[k].column] =
        store_words(layout.words[k], k, pieces, table.values, table.cols, file.path());
  table.digest = file.digest();
  return table;
}

}  // namespace kasen
