// Dense tables in text: comma, semicolon, tab or blanks between cells (told by the first lines), an optional line of
// names on top, columns of words coded by a dictionary. Whether a column holds numbers or words, its first row decides.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>

#include "libcomm/data/formats.h"
#include "libcore/checked.h"

namespace kasen {
namespace {

[[noreturn]] void fail_empty(const char* at) {
  fail_text(at, "a cell is missing", "each row has a value in this column",
            "fill it in, with nan where the input is floating point, or leave the row out");
}

// Cells of one line. With blanks as delimiter (' ') any run of them separates.
class Cells {
 public:
  Cells(const char* line, char delimiter) : delimiter_(delimiter), p_(skip(line)) {}

  // True while a cell is left; `begin` and `end` then hold its text, without blanks around it and without quotes.
  bool next() {
    if (done_) return false;
    p_ = skip(p_);
    quoted_ = *p_ == '"';
    if (quoted_) {
      take_quoted();
    } else {
      begin = p_;
      while (*p_ != '\n' && *p_ != delimiter_ && !(delimiter_ == ' ' && is_blank(*p_))) ++p_;
      end = p_;
      while (end > begin && is_blank(end[-1])) --end;
    }
    finish();
    return true;
  }
  [[nodiscard]] std::string_view text() const { return {begin, static_cast<size_t>(end - begin)}; }
  [[nodiscard]] bool quoted() const { return quoted_; }
  [[nodiscard]] const char* line_end() const { return p_; }

  // A number that begins at the cell's start has been read up to `after`.
  bool next_number(ParseInto parse, std::byte* plane, std::int64_t i) {
    if (done_) return false;
    p_ = skip(p_);
    if (*p_ == '"') {
      next();
      number_in_quotes(parse, plane, i);
      return true;
    }
    begin = p_;
    if (*p_ == delimiter_ || *p_ == '\n') fail_empty(p_);
    p_ = parse(p_, plane, i);
    finish();
    return true;
  }

  const char *begin = nullptr, *end = nullptr;

 private:
  [[nodiscard]] const char* skip(const char* p) const {
    while (is_blank(*p) && *p != delimiter_) ++p;
    return delimiter_ == ' ' ? skip_blanks(p) : p;
  }

  void take_quoted() {
    begin = ++p_;
    while (*p_ != '"' || p_[1] == '"') {
      if (*p_ == '\n') fail_text(begin - 1, "the quote is not closed on its line");
      p_ += *p_ == '"' ? 2 : 1;
    }
    end = p_++;
  }

  void number_in_quotes(ParseInto parse, std::byte* plane, std::int64_t i) const {
    const std::string inside = std::string(text()) + '\n';
    try {
      const char* const after = parse(inside.data(), plane, i);
      if (*after != '\n') fail_text(inside.data(), fmt::format("'{}' is not a number", text()));
    } catch (TextFault& fault) {
      fault.at = begin;
      throw;
    }
  }

  // Over the delimiter behind a cell.
  void finish() {
    const char* const after = p_;
    p_ = skip(p_);
    if (*p_ == '\n') {
      done_ = true;
    } else if (*p_ == delimiter_) {
      ++p_;
    } else if (delimiter_ != ' ' || p_ == after) {
      fail_text(p_, fmt::format("unexpected '{}' after the cell", *p_));
    }
  }

  char delimiter_;
  const char* p_;
  bool quoted_ = false, done_ = false;
};

std::string first_rows(std::string_view text, std::int64_t& from, int rows) {
  std::string lines;
  std::int64_t at = from = skip_comments(text);
  for (int i = 0; i < rows && at < static_cast<std::int64_t>(text.size()); ++i) {
    const std::int64_t end = next_line(text, at);
    lines += text.substr(static_cast<size_t>(at), static_cast<size_t>(end - at));
    if (!lines.ends_with('\n')) lines += '\n';
    at = skip_comments(text, end);
  }
  return lines;
}

std::vector<std::vector<std::string>> split(const std::string& lines, char delimiter) {
  std::vector<std::vector<std::string>> rows;
  for (const char* p = lines.data(); p < lines.data() + lines.size();) {
    rows.emplace_back();
    Cells cells(p, delimiter);
    while (cells.next()) rows.back().emplace_back(cells.text());
    p = std::find(p, lines.data() + lines.size(), '\n') + 1;  // not strchr: a file that is no text holds zeros
  }
  return rows;
}

struct Layout {
  char delimiter = ' ';
  std::int64_t from = 0;           // byte of the first row
  std::vector<bool> words;         // by column of the file
  std::vector<std::string> first;  // the cells of the first row
  std::vector<int> taken;          // columns of the file, from 0, in the order of the result
};

// The delimiter that cuts the first lines into equally many cells, more than one; else blanks.
char delimiter_of(const std::string& lines) {
  for (const char candidate : {'\t', ';', ','}) {
    try {
      const auto rows = split(lines, candidate);
      const auto same = [&](const auto& row) { return row.size() == rows[0].size(); };
      if (rows[0].size() > 1 && std::all_of(rows.begin(), rows.end(), same)) return candidate;
    } catch (const TextFault&) {  // quotes that only another delimiter explains
    }
  }
  if (lines.substr(0, lines.find('\n')).find(',') != std::string::npos) return ',';
  return ' ';
}

// Over the row below: names are no numbers, and a letter begins one of them ("1x1" may be the others).
bool is_line_of_names(const std::vector<std::string>& line, const std::vector<std::string>& below) {
  const auto letter = [](const std::string& cell) {
    const char c = cell.empty() ? ' ' : cell[0];
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<signed char>(c) < 0;
  };
  const auto number_over_number = [&](std::size_t c) { return looks_numeric(line[c]) && looks_numeric(below[c]); };
  bool numbers = false;
  for (std::size_t c = 0; c < std::min(line.size(), below.size()); ++c) numbers = numbers || number_over_number(c);
  return !numbers && std::any_of(line.begin(), line.end(), letter);
}

Layout layout_of(const InputFile& file, const ReadOptions& options) {
  Layout layout;
  const std::string lines = first_rows(file.text(), layout.from, 8);
  if (lines.empty()) fail(ExitStatus::bad_input, "the file has no rows", {}, {}, {file.path()});
  std::vector<std::vector<std::string>> rows;
  layout.delimiter = delimiter_of(lines);
  try {
    rows = split(lines, layout.delimiter);
  } catch (const TextFault& fault) {
    const std::int64_t at = fault.at - lines.data();  // exact where no comment stands among the first lines
    file.fail_at(layout.from + at, fault.what, fault.why, fault.remedy);
  }
  const bool boolean = options.element.is(Scalar::boolean);
  const auto is_word = [&](const std::string& cell) {
    return !looks_numeric(cell) &&
           !(boolean && (cell == "true" || cell == "false" || cell == "True" || cell == "False"));
  };
  // NA over a number is a value that is missing, and no name.
  const auto is_name = [&](const std::string& cell) {
    static constexpr std::array<std::string_view, 12> missing{"",     "NA",   "na",   "N/A", "n/a", "NULL",
                                                              "null", "None", "none", "?",   "-",   "."};
    return is_word(cell) && std::find(missing.begin(), missing.end(), cell) == missing.end();
  };
  size_t first = 0;
  for (size_t c = 0; rows.size() > 1 && c < std::min(rows[0].size(), rows[1].size()); ++c) {
    if (is_name(rows[0][c]) && !is_word(rows[1][c])) first = 1;
  }
  // A value of which nobody knows what it is must not be lost as a name: one over a number, and numbers beside it.
  if (first == 1 && !is_line_of_names(rows[0], rows[1]))
    file.fail_at(layout.from, "the first line is neither names nor values",
                 "some of it are words, and some are numbers",
                 "put # before it if it holds names, else mend the words (nan is a number where a value is missing)");
  if (first == 1) layout.from = skip_comments(file.text(), next_line(file.text(), layout.from));
  for (const std::string& cell : rows[first]) layout.words.push_back(is_word(cell));
  layout.first = rows[first];

  const auto columns = static_cast<int>(layout.words.size());
  for (const int column : options.columns) {
    if (column < 1 || column > columns) {
      fail(ExitStatus::usage, fmt::format("there is no column {}", column),
           fmt::format("the columns are 1 to {}", columns), "", {file.path()});
    }
    layout.taken.push_back(column - 1);
  }
  for (int c = 0; c < columns && options.columns.empty(); ++c) layout.taken.push_back(c);
  for (const int c : layout.taken) {  // a code of 0 or 1 would say no more than which word came first
    if (boolean && layout.words[static_cast<size_t>(c)])
      file.fail_at(layout.from, fmt::format("'{}' is not a value of type bool", layout.first[static_cast<size_t>(c)]),
                   "it is none of 0, 1, false, true", "replace the words by these");
  }
  return layout;
}

// Words of one column in order of first appearance. Keys are the text in the file, in which a quote may be doubled.
struct Dictionary {
  std::unordered_map<std::string_view, std::int64_t> codes;
  std::vector<std::string_view> words;

  std::int64_t code(std::string_view word) {
    const auto [entry, added] = codes.try_emplace(word, static_cast<std::int64_t>(words.size()));
    if (added) words.push_back(word);
    return entry->second;
  }
};

// What a piece found: its rows, and its own coding of each column of words.
struct PieceWords {
  std::int64_t rows = 0;
  std::vector<Dictionary> dictionaries;          // by column of the file
  std::vector<std::vector<std::int64_t>> codes;  // of each row
};

class TableParser {
 public:
  TableParser(const Layout& layout, Array& values)
      : layout_(layout),
        parse_(parser_of(values.element.scalar())),
        plane_(values.plane(0)),
        place_(layout.words.size(), -1) {
    for (size_t i = 0; i < layout.taken.size(); ++i)
      place_[static_cast<size_t>(layout.taken[i])] = static_cast<std::int64_t>(i);
  }

  [[nodiscard]] PieceWords parse(const Piece& piece) const {
    PieceWords found;
    found.dictionaries.resize(place_.size());
    found.codes.resize(place_.size());
    for (const char* p = piece.begin; p < piece.end; ++p) {
      const char* const start = skip_blanks(p);
      if (*start == '\n' || *start == '#' || *start == '%') {
        p = static_cast<const char*>(std::memchr(start, '\n', static_cast<size_t>(piece.end - start)));
      } else {
        p = row(p, piece.first_line + found.rows, found);
        ++found.rows;
      }
    }
    return found;
  }

 private:
  const char* row(const char* line, std::int64_t row, PieceWords& found) const {
    Cells cells(line, layout_.delimiter);
    const auto width = static_cast<std::int64_t>(layout_.taken.size());
    for (size_t c = 0; c < place_.size(); ++c) {
      const bool number = place_[c] >= 0 && !layout_.words[c];
      const bool there = number ? cells.next_number(parse_, plane_, row * width + place_[c]) : cells.next();
      if (!there)
        fail_text(cells.line_end(), fmt::format("the row has {} columns, and the first has {}", c, place_.size()));
      if (number || place_[c] < 0) continue;
      if (cells.text().empty() && !cells.quoted()) fail_empty(cells.begin);
      const size_t known = found.dictionaries[c].words.size();
      found.codes[c].push_back(found.dictionaries[c].code(cells.text()));
      if (found.dictionaries[c].words.size() > known) check_word(cells, c);
    }
    if (cells.next()) {
      fail_text(cells.begin, fmt::format("the row has more columns than the first, which has {}", place_.size()));
    }
    return cells.line_end();
  }

  void check_word(const Cells& cells, size_t c) const {
    const std::string_view word = cells.text();
    if (!is_text(word))
      fail_text(cells.begin, "this word is no text in UTF-8", "words stand in the bundle as they are",
                "convert the file, for example from Latin-1: iconv -f ISO-8859-1 -t UTF-8; or it is of another kind");
    const bool number = looks_numeric(word) && word.find_first_of("0123456789") != std::string_view::npos;
    if (!number || cells.quoted()) return;
    fail_text(cells.begin, fmt::format("the number {} stands in a column of words", word),
              fmt::format("'{}' in the first row is a word, and words are coded 0, 1, ...", layout_.first[c]),
              "fill in what is missing, with nan where the input is floating point; a number in quotes is a word");
  }

  const Layout& layout_;
  ParseInto parse_;
  std::byte* plane_;
  std::vector<std::int64_t> place_;  // of each column of the file in the result, or -1
};

std::string without_doubled_quotes(std::string_view word) {
  std::string text;
  for (size_t i = 0; i < word.size(); ++i) {
    text += word[i];
    if (word[i] == '"' && i + 1 < word.size() && word[i + 1] == '"') ++i;
  }
  return text;
}

// Joins the pieces' dictionaries in file order and stores the codes.
void store_words(const Layout& layout, std::vector<PieceWords>& pieces, RawTable& table, const InputFile& file) {
  const Scalar scalar = table.values.element.scalar();
  for (size_t place = 0; place < layout.taken.size(); ++place) {
    const auto column = static_cast<size_t>(layout.taken[place]);
    if (!layout.words[column]) continue;
    Dictionary all;
    std::int64_t row = 0;
    for (const PieceWords& piece : pieces) {
      std::vector<std::int64_t> codes;
      for (const std::string_view word : piece.dictionaries[column].words) codes.push_back(all.code(word));
      for (const std::int64_t local : piece.codes[column]) {
        const std::int64_t to = row++ * table.cols + static_cast<std::int64_t>(place);
        if (store_number(scalar, codes[static_cast<size_t>(local)], table.values.plane(0), to)) continue;
        fail(ExitStatus::bad_input,
             fmt::format("column {} has too many different words for {}", column + 1, scalar_name(scalar)),
             "words are coded 0, 1, ...", "choose other columns or a wider type", {file.path()});
      }
    }
    std::vector<std::string>& words = table.dictionaries[static_cast<int>(column) + 1];
    words.clear();
    for (const std::string_view word : all.words) words.push_back(without_doubled_quotes(word));
  }
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
  const Layout layout = layout_of(file, options);
  const TextPieces text(file, layout.from);
  const auto cols = static_cast<std::int64_t>(layout.taken.size());
  RawTable table = make_table(text.lines(), cols, options, file.path());
  const TableParser parser(layout, table.values);
  std::vector<PieceWords> pieces(text.pieces().size());
  text.for_each(options.progress,
                [&](const Piece& piece, std::int64_t n) { pieces[static_cast<size_t>(n)] = parser.parse(piece); });

  table.rows = 0;
  for (const PieceWords& piece : pieces) table.rows += piece.rows;
  if (table.rows < text.lines()) {  // comments or blank lines left holes
    RawTable dense = make_table(table.rows, cols, options, file.path());
    std::byte* to = dense.values.plane(0);
    const std::int64_t width = cols * scalar_bytes(options.element.scalar());
    for (size_t n = 0; n < pieces.size(); ++n) {
      to = std::copy_n(table.values.plane(0) + text.pieces()[n].first_line * width, pieces[n].rows * width, to);
    }
    table = std::move(dense);
  }
  store_words(layout, pieces, table, file);
  table.digest = file.digest();
  return table;
}

}  // namespace kasen
