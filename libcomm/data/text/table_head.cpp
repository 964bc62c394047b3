#include "libcomm/data/text/table_head.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "libcomm/data/text/first_lines.h"
#include "libcomm/data/text/number_text.h"
#include "libcomm/data/text/text_cells.h"
#include "libcomm/data/text/text_source.h"
#include "libcore/base/error.h"

namespace kasen {
namespace {

constexpr std::int64_t head_bytes = std::int64_t{1} << 18;  // bytes of the beginning

enum class Held : unsigned char { nothing, words, numbers };

// Marks the kinds of a row's cells. A row that no reader takes ends the look: the reader will say what is wrong.
bool look_at(std::string_view line, char delimiter, const HeadCells& known, std::vector<Held>& held) {
  try {
    std::size_t c = 0;
    for (Cells cells(line.data(), delimiter); cells.next(); ++c) {
      if (c == held.size()) return false;
      if (cells.text().empty() || (known.is_missing && known.is_missing(cells.text()))) continue;
      const std::optional<std::string> plain = known.numbers.plain_text(cells.text());
      const bool number = plain && looks_numeric(*plain);
      if (number) held[c] = Held::numbers;
      if (!number && held[c] == Held::nothing) held[c] = Held::words;
    }
  } catch (const TextFault&) {
    return false;
  }
  return true;
}

// What the cells of whole lines behind the first one hold.
std::vector<Held> kinds_below(std::string_view top, const FirstLines& first, const HeadCells& cells) {
  std::vector<Held> held(static_cast<std::size_t>(first.columns()), Held::nothing);
  std::string line;
  for (auto at = static_cast<std::size_t>(first.lines.size() > 1 ? first.lines[1].at : first.lines[0].at);
       at < top.size();) {
    const std::size_t end = top.find('\n', at);
    if (end == std::string_view::npos && at > static_cast<std::size_t>(first.lines.back().at)) break;
    line = std::string(top.substr(at, end - at)) + '\n';
    const char first_letter = *skip_blanks(line.data());
    const bool skipped = first_letter == '#' || first_letter == '%' || first_letter == '\n';
    if (!skipped && !look_at(line, first.delimiter, cells, held)) break;
    if (end == std::string_view::npos) break;
    at = end + 1;
  }
  return held;
}

}  // namespace

TableHead read_table_head(const std::string& path, bool by_name, const HeadCells& cells) {
  TextSource source(path);
  const std::string_view top = source.peek(head_bytes);
  const FirstLines first = first_lines(path, top, true, cells.numbers);
  if (first.lines.empty()) fail(ExitStatus::bad_input, "the file has no rows", {}, {}, {path});
  check_title(path, first.head, cells.wanted, ExitStatus::usage);
  TableHead head;
  head.lines = first.head;
  head.columns.resize(static_cast<std::size_t>(first.columns()));
  const std::vector<Held> held = kinds_below(top, first, cells);
  NameRule rule{
      .wanted = by_name, .numbers = {}, .words = {}, .boolean = false, .style = cells.numbers, .missing = cells.marks};
  for (std::size_t c = 0; c < head.columns.size(); ++c) {
    head.columns[c].words = held[c] == Held::words;
    (head.columns[c].words ? rule.words : rule.numbers).push_back(static_cast<int>(c) + 1);
  }
  head.named = begins_with_names(first, rule);
  if (!head.named) return head;
  for (std::size_t c = 0; c < head.columns.size(); ++c) head.columns[c].name = first.lines[0].cells[c];
  return head;
}

}  // namespace kasen
