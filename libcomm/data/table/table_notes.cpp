#include "libcomm/data/table/table_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>
#include <vector>

#include "libcomm/data/text/text_cells.h"

namespace kasen {
namespace {

bool may_be_name(const std::string& cell) {
  const char c = cell.empty() ? ' ' : cell[0];
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<signed char>(c) < 0;
  return letter && !looks_numeric(cell);
}

// Whether a line has the same word as the first one, in a column that was chosen.
bool repeats_word(const std::string& line, const FirstLines& first, const TableForm& form) {
  const std::vector<std::string>& names = first.lines[0].cells;
  try {
    Cells cells(line.data(), form.delimiter);
    for (std::size_t c = 0; c < names.size() && cells.next(); ++c) {
      const bool chosen = std::find(form.taken.begin(), form.taken.end(), static_cast<int>(c) + 1) != form.taken.end();
      if (chosen && cells.text() == names[c]) return true;
    }
  } catch (const TextFault&) {
    return false;
  }
  return false;
}

// Names stand once in their column, as far as the first lines show.
bool stands_alone(const FirstLines& first, const TableForm& form) {
  constexpr std::size_t searched = std::size_t{1} << 18;
  const std::string_view top = first.top.substr(0, searched);
  for (auto at = static_cast<std::size_t>(next_line(top, form.from)); at < top.size();) {
    const auto end = static_cast<std::size_t>(next_line(top, static_cast<std::int64_t>(at)));
    std::string line(top.substr(at, end - at));
    if (!line.ends_with('\n')) line += '\n';
    if (!holds_no_row(skip_blanks(line.data())) && repeats_word(line, first, form)) return false;
    at = end;
  }
  return true;
}

}  // namespace

std::string head_note(const FirstLines& first, const TableForm& form) {
  constexpr std::size_t longest_shown = 60;
  if (!form.names.empty() || form.words.empty() || form.words.size() != form.taken.size()) return {};
  if (!form.dictionary_name.empty() || first.lines.size() < 2) return {};
  const std::vector<std::string>& names = first.lines[0].cells;
  const bool distinct = std::set<std::string>(names.begin(), names.end()).size() == names.size();
  if (!distinct || !std::all_of(names.begin(), names.end(), may_be_name) || !stands_alone(first, form)) return {};
  const std::string line = fmt::format("{}", fmt::join(names, std::string(1, form.delimiter)));
  if (line.size() > longest_shown) return {};
  return fmt::format("the first line ({}) is taken for data; choose columns by name if it is a head", line);
}

std::string comments_note(const TextRows& rows) {
  const std::int64_t count = rows.comments();
  if (count == 0) return {};
  return fmt::format("{} of '{}' that {} with # or % {} left out as {}; quote the cell to keep it",
                     count == 1 ? "1 line" : fmt::format("{} lines", count), rows.path(),
                     count == 1 ? "begins" : "begin", count == 1 ? "was" : "were",
                     count == 1 ? "a comment" : "comments");
}

}  // namespace kasen
