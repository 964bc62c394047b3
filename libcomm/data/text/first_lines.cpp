#include "libcomm/data/text/first_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "libcomm/data/text/input_file.h"
#include "libcomm/data/text/text_cells.h"
#include "libcomm/data/text/text_source.h"
#include "libcore/base/count_text.h"

namespace kasen {
namespace {

constexpr int looked_at = 8;  // lines

// Lines with content, each ended by '\n'.
struct ContentLines {
  std::vector<std::string_view> lines;
  std::vector<std::int64_t> numbers;  // of the lines, from 1
  std::string tail;                   // the last line, if the text does not end it

  explicit ContentLines(const std::string& path, std::string_view top) {
    std::int64_t at = skip_comments(top), counted = 0, number = 1;
    for (int i = 0; i < looked_at && at < std::ssize(top); ++i) {
      number += count_lines(top.substr(static_cast<size_t>(counted), static_cast<size_t>(at - counted)));
      counted = at;
      numbers.push_back(number);
      const std::int64_t end = next_line(top, at);
      if (end - at > longest_line) fail_long_line(path, count_lines(top.substr(0, static_cast<size_t>(at))) + 1);
      lines.push_back(top.substr(static_cast<size_t>(at), static_cast<size_t>(end - at)));
      at = skip_comments(top, end);
    }
    if (lines.empty() || lines.back().ends_with('\n')) return;
    tail = std::string(lines.back()) + '\n';
    lines.back() = tail;
  }
};

// 0 if only another delimiter explains the quotes.
std::size_t count_cells(std::string_view line, char delimiter) {
  std::size_t count = 0;
  try {
    for (Cells cells(line.data(), delimiter); cells.next(); ++count) {
    }
  } catch (const TextFault&) {
    return 0;
  }
  return count;
}

bool is_number(std::string_view cell, const NumberStyle& style) {
  const std::optional<std::string> plain = style.plain_text(cell);
  return plain && looks_numeric(*plain);
}

// The character after the number at the beginning of a line; '\0' if the line does not begin with a number. Values fix
// the delimiter; names may hold others.
char behind_number(std::string_view line, const NumberStyle& style) {
  const size_t end = line.find_first_of(style.uses(',') ? " \t\n;" : " \t\n;,");
  return end != std::string_view::npos && is_number(line.substr(0, end), style) ? line[end] : '\0';
}

std::size_t count_numbers(std::string_view line, char delimiter, const NumberStyle& style) {
  std::size_t count = 0;
  try {
    for (Cells cells(line.data(), delimiter); cells.next();) count += is_number(cells.text(), style) ? 1 : 0;
  } catch (const TextFault&) {
    return 0;
  }
  return count;
}

// Words may hold this character, too: it has to find as many numbers as blanks do.
bool bars_separate(const std::vector<std::string_view>& lines, const NumberStyle& style) {
  std::size_t between_bars = 0, between_blanks = 0;
  for (const std::string_view line : lines) {
    between_bars += count_numbers(line, '|', style);
    between_blanks += count_numbers(line, ' ', style);
  }
  return between_bars >= between_blanks;
}

bool has_quoted_cell(const char* line) {
  try {
    for (Cells cells(line, ','); cells.next();)
      if (cells.quoted()) return true;
  } catch (const TextFault&) {
    return false;
  }
  return false;
}

bool are_alike(const std::vector<std::size_t>& cells, std::ptrdiff_t from) {
  const auto begin = cells.begin() + std::min(from, std::ssize(cells));
  return begin != cells.end() && *begin > 1 && std::all_of(begin, cells.end(), [&](auto n) { return n == *begin; });
}

// Where numbers have commas, other commas separate if one of the first lines has a cell in quotes between them.
bool commas_separate(const ContentLines& content, std::string_view top) {
  constexpr std::size_t searched = std::size_t{1} << 18;
  std::vector<std::size_t> counts;
  bool quoted = false;
  for (const std::string_view line : content.lines) {
    counts.push_back(count_cells(line, ','));
    quoted = quoted || has_quoted_cell(line.data());
  }
  if (!are_alike(counts, 0) && !are_alike(counts, 1)) return false;
  for (std::size_t at = 0; !quoted && at < std::min(searched, top.size());) {
    const std::size_t end = top.find('\n', at);
    if (end == std::string_view::npos) break;
    quoted = !holds_no_row(skip_blanks(top.data() + at)) && has_quoted_cell(top.data() + at);
    at = end + 1;
  }
  return quoted;
}

// The delimiter that cuts the lines into equally many cells, more than one. Else the one that does so after the first
// line, which may hold too few names. Else one that cuts all of them, else one that cuts most of them alike where
// blanks do not, else blanks.
class Separators {
 public:
  Separators(const ContentLines& content, std::string_view top, const NumberStyle& style)
      : content_(content), lines_(content.lines), style_(style), behind_(behind_number(lines_[0], style)), top_(top) {
    for (std::size_t k = 0; k < candidates.size(); ++k)
      for (const std::string_view line : lines_)
        counts_[k].push_back(style.uses(candidates[k]) ? 0 : count_cells(line, candidates[k]));
  }

  [[nodiscard]] char delimiter() const {
    for (const std::ptrdiff_t from : {0, 1})
      for (std::size_t k = 0; k < candidates.size(); ++k)
        if (are_alike(counts_[k], from) && (from == 0 || behind_ == '\0' || behind_ == candidates[k]) &&
            (candidates[k] != '|' || bars_separate(lines_, style_)))
          return candidates[k];
    if (style_.uses(',') && commas_separate(content_, top_)) return ',';
    for (std::size_t k = 0; k < candidates.size(); ++k)
      if (candidates[k] != '|' && std::all_of(counts_[k].begin(), counts_[k].end(), [](auto n) { return n > 1; }))
        return candidates[k];
    if (behind_ != '\0') return behind_ == ';' || behind_ == ',' ? behind_ : ' ';
    if (lines_[0].find(',') != std::string_view::npos && !style_.uses(',')) return ',';
    const auto k = of_most();
    return k && !blanks_separate() ? candidates[*k] : ' ';
  }

  // About the line without the separator of most lines.
  [[nodiscard]] std::string odd() const {
    const auto k = of_most();
    if (!k) return {};
    const auto line = std::find_if(counts_[*k].begin(), counts_[*k].end(), [](auto n) { return n < 2; });
    if (line == counts_[*k].end()) return {};
    return fmt::format("line {} has no {}, which separates the cells of the others: put # before it if it is no row",
                       content_.numbers[static_cast<std::size_t>(line - counts_[*k].begin())],
                       shown_delimiter(candidates[*k]));
  }

 private:
  static constexpr std::array candidates{'\t', ';', ',', '|'};

  // The separator that cuts more than half of the lines, at least two, into equally many cells.
  [[nodiscard]] std::optional<std::size_t> of_most() const {
    for (std::size_t k = 0; k < candidates.size(); ++k)
      for (const std::size_t cells : counts_[k]) {
        const auto alike = static_cast<std::size_t>(std::count(counts_[k].begin(), counts_[k].end(), cells));
        if (candidates[k] != '|' && cells > 1 && alike > 1 && 2 * alike > lines_.size()) return k;
      }
    return std::nullopt;
  }
  [[nodiscard]] bool blanks_separate() const {
    const std::size_t cells = count_cells(lines_[0], ' ');
    return std::all_of(lines_.begin(), lines_.end(), [&](const auto& line) { return count_cells(line, ' ') == cells; });
  }

  const ContentLines& content_;
  const std::vector<std::string_view>& lines_;
  const NumberStyle& style_;
  char behind_;
  std::string_view top_;
  std::array<std::vector<std::size_t>, candidates.size()> counts_;
};

std::vector<std::string> split(std::string_view line, char delimiter, const std::string& path) {
  const auto bytes = static_cast<std::int64_t>(count_cells(line, delimiter) * sizeof(std::string));
  check_memory(bytes, "the first line of a table of so many columns", path);
  std::vector<std::string> row;
  Cells cells(line.data(), delimiter);
  while (cells.next()) row.push_back(cells.meant_text());
  return row;
}

// The lines as cells, where these are few.
std::vector<HeadLine> head_of(const ContentLines& content, char delimiter) {
  constexpr std::size_t most = std::size_t{1} << 16;
  std::size_t bytes = 0;
  for (const std::string_view line : content.lines) bytes += line.size();
  std::vector<HeadLine> head;
  for (std::size_t k = 0; k < content.lines.size() && bytes <= most; ++k) {
    head.push_back({.number = content.numbers[k], .cells = {}});
    try {
      Cells cells(content.lines[k].data(), delimiter);
      while (cells.next()) head.back().cells.push_back(cells.meant_text());
    } catch (const TextFault&) {
      head.back().cells.clear();
    }
  }
  return head;
}

// Marks of a missing value, and values of other kinds, which are no names of columns.
bool is_no_name(std::string_view cell) {
  static constexpr std::array<std::string_view, 24> values{
      "",     "NA",    "na",   "N/A",   "n/a",  "NULL",  "null", "None", "none", "?",  "-",   ".",
      "true", "false", "True", "False", "TRUE", "FALSE", "yes",  "no",   "Yes",  "No", "YES", "NO"};
  return std::find(values.begin(), values.end(), cell) != values.end();
}

bool begins_with_letter(const std::string& cell) {
  const char c = cell.empty() ? ' ' : cell[0];
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<signed char>(c) < 0;
}

class NameCheck {
 public:
  NameCheck(const FirstLines& first, const NameRule& rule)
      : first_(first),
        rule_(rule),
        above_(first.lines[0].cells),
        below_(first.lines[1].cells),
        words_(std::max(above_.size(), below_.size())) {
    for (const int column : rule.words)
      if (std::cmp_less_equal(column, words_.size())) words_[static_cast<size_t>(column) - 1] = true;
  }

  // Whether all columns that must hold numbers do so in the first line.
  [[nodiscard]] bool holds_values() const {
    return !rule_.numbers.empty() && std::all_of(rule_.numbers.begin(), rule_.numbers.end(), [&](int column) {
      return std::cmp_less_equal(column, above_.size()) && is_value(above_[static_cast<size_t>(column) - 1]);
    });
  }
  // A name over a number, in a column that does not hold words.
  [[nodiscard]] bool looks_named() const {
    for (size_t c = 0; c < std::min(above_.size(), below_.size()); ++c)
      if (!words_[c] && !is_value(above_[c]) && !is_no_name(above_[c]) && !is_missing(above_[c]) && is_value(below_[c]))
        return true;
    return false;
  }
  // Names are no numbers, and at least one begins with a letter (others may be "1x1").
  [[nodiscard]] bool can_be_names() const {
    for (size_t c = 0; c < std::min(above_.size(), below_.size()); ++c)
      if (is_value(above_[c]) && is_value(below_[c])) return false;
    return std::any_of(above_.begin(), above_.end(), begins_with_letter);
  }
  void require_as_many() const {
    if (above_.size() == below_.size()) return;
    const bool row_names = above_.size() + 1 == below_.size(), ends_empty = below_.back().empty();
    fail_in_text(first_.path, first_.top, 0, first_.lines[0].at,
                 fmt::format("the first line names {}, and the line below has {}", count_text(above_.size(), "column"),
                             below_.size()),
                 !row_names   ? "nobody knows which column is which"
                 : ends_empty ? fmt::format("behind its last {} stands no value", shown_delimiter(first_.delimiter))
                              : "the first column has no name, as in the output of R's write.table",
                 !row_names ? "name each column, or put # before the line"
                 : ends_empty
                     ? remedy_for_last(first_.delimiter)
                     : "name it, too (in R: write.table(..., col.names = NA)), or leave it out (row.names = FALSE)");
  }
  [[nodiscard]] bool is_value(const std::string& cell) const {
    return is_number(cell, rule_.style) ||
           (rule_.boolean && (cell == "true" || cell == "false" || cell == "True" || cell == "False"));
  }

 private:
  [[nodiscard]] bool is_missing(const std::string& cell) const {
    return std::find(rule_.missing.begin(), rule_.missing.end(), cell) != rule_.missing.end();
  }

  const FirstLines& first_;
  const NameRule& rule_;
  const std::vector<std::string>&above_, &below_;
  std::vector<bool> words_;  // by column
};

}  // namespace

std::string shown_delimiter(char delimiter) {
  return delimiter == '\t' ? "tab" : delimiter == ' ' ? "blank" : fmt::format("'{}'", delimiter);
}

std::string remedy_for_last(char delimiter) {
  const std::string shown = delimiter == '\t' ? "\\t" : std::string(1, delimiter);
  return fmt::format("take it away at the end of each line: sed 's/{}$//'", shown);
}

int FirstLines::columns() const { return lines.empty() ? 0 : static_cast<int>(lines.back().cells.size()); }

FirstLines first_lines(const std::string& path, std::string_view top, bool strict, const NumberStyle& style) {
  FirstLines first{.path = path, .top = top, .delimiter = ' ', .lines = {}};
  const ContentLines content(path, top);
  if (content.lines.empty()) return first;
  const Separators separators(content, top, style);
  first.delimiter = separators.delimiter();
  if (first.delimiter == ' ') first.odd = separators.odd();
  first.head = head_of(content, first.delimiter);
  std::int64_t at = skip_comments(top);
  for (std::size_t k = 0; k < std::min<std::size_t>(2, content.lines.size()); ++k) {
    const std::string_view line = content.lines[k];
    try {
      first.lines.push_back({at, split(line, first.delimiter, path)});
    } catch (const TextFault& fault) {
      if (strict) fail_in_text(path, top, 0, at + (fault.at - line.data()), fault.what, fault.why, fault.remedy);
      first.lines.push_back({at, {}});
    }
    at = skip_comments(top, next_line(top, at));
  }
  return first;
}

bool begins_with_names(const FirstLines& first, const NameRule& rule) {
  const auto fail_here = [&](const std::string& what, const std::string& why, const std::string& remedy) {
    fail_in_text(first.path, first.top, 0, first.lines[0].at, what, why, remedy);
  };
  const auto& cells = first.lines[0].cells;
  if (first.lines.size() == 1) {
    const bool none =
        std::none_of(cells.begin(), cells.end(), [&](const auto& cell) { return is_number(cell, rule.style); });
    const bool names = none && std::any_of(cells.begin(), cells.end(), begins_with_letter) &&
                       std::none_of(cells.begin(), cells.end(), is_no_name);
    if (rule.wanted || (names && !rule.numbers.empty()))
      fail_here("the file has no rows", "its one line holds the names of columns", "");
    return false;
  }
  const NameCheck check(first, rule);
  if (!rule.wanted && (check.holds_values() || !check.looks_named())) return false;
  if (!check.can_be_names()) {
    const bool lost = check.looks_named() && (rule.wanted || !rule.numbers.empty());
    if (!lost) return false;
    fail_here("the first line is neither names nor values", "some cells are words, and some are numbers",
              "put # before it if it holds names, else fix the words (nan is a number where a value is missing)");
  }
  check.require_as_many();
  return true;
}

}  // namespace kasen
