#include "tools/show/shown.h"

#include <fmt/format.h>

#include <algorithm>

#include "libcore/base/count_text.h"
#include "libopt/text/report_parts.h"

namespace kasen::tools {
namespace {

constexpr size_t most_columns = 10;         // of a table, beside ids
constexpr std::int64_t widest_grid = 1000;  // a wider matrix has a line for each element

using Lines = std::vector<std::vector<std::string>>;

size_t letters(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// Columns to the right, two blanks apart. Those that do not fit into the width are left out, with a mark.
std::string aligned(const Lines& lines, size_t width) {
  std::vector<size_t> widths;
  for (const auto& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], letters(line[c]));
  }
  size_t shown = 0, taken = 0;
  const std::string mark = "  ...";
  for (; shown < widths.size(); ++shown) {
    const size_t room = shown + 1 < widths.size() ? mark.size() : 0;
    if (width > 0 && shown > 0 && taken + widths[shown] + 2 + room > width) break;
    taken += widths[shown] + 2;
  }
  std::string text;
  for (const auto& line : lines) {
    for (size_t c = 0; c < std::min(shown, line.size()); ++c)
      text += "  " + std::string(widths[c] - letters(line[c]), ' ') + line[c];
    text += shown < line.size() ? mark + "\n" : "\n";
  }
  return text;
}

bool is_scalar(const ViewArray& array) { return array.dims.empty() && array.rows == 1; }

bool is_grid(const ViewArray& array) {
  return array.shape.size() == 2 && !array.sparse && array.columns.size() == 1 && array.shape[1] <= widest_grid;
}

std::string scalar_text(const ViewArray& array, const ViewRow& row) {
  std::string cells;
  for (size_t c = 0; c < std::min(row.cells.size(), 4 * most_columns); ++c)
    cells += fmt::format("{}{}", c == 0 ? "" : ", ", cell_text(row.cells[c]));
  if (row.cells.size() > 4 * most_columns) cells += ", ...";
  return row.cells.size() == 1 ? fmt::format("{} = {}", array.name, cells)
                               : fmt::format("{} = ({})", array.name, cells);
}

Lines lines_of(const ViewArray& array, const std::vector<ViewRow>& rows, int digits) {
  Lines lines(1, array.dims);
  for (size_t d = 0; d < lines[0].size(); ++d)
    if (lines[0][d].empty()) lines[0][d] = lines[0].size() == 1 ? "index" : fmt::format("index {}", d);
  const size_t columns = std::min(array.columns.size(), most_columns);
  const bool cut = columns < array.columns.size();
  lines[0].insert(lines[0].end(), array.columns.begin(), array.columns.begin() + static_cast<std::ptrdiff_t>(columns));
  if (cut) lines[0].emplace_back("...");
  for (const ViewRow& row : rows) {
    std::vector<std::string>& line = lines.emplace_back();
    for (const ViewCell& id : row.ids) line.push_back(cell_text(id));
    for (size_t c = 0; c < columns; ++c) line.push_back(cell_text(row.cells[c], digits));
    if (cut) line.emplace_back("...");
  }
  return lines;
}

// A line for each index of the first dimension, a column for each of the second; `rows` are whole lines.
Lines grid_of(const ViewArray& array, const std::vector<ViewRow>& rows, int digits) {
  const auto wide = static_cast<size_t>(array.shape[1]);
  const size_t columns = std::min(wide, most_columns);
  Lines lines(1);
  const auto name = [&](size_t d, const char* other) { return array.dims[d].empty() ? other : array.dims[d]; };
  lines[0].push_back(fmt::format("{}\\{}", name(0, "row"), name(1, "column")));
  for (size_t c = 0; c < columns && c < rows.size(); ++c) lines[0].push_back(cell_text(rows[c].ids[1]));
  if (columns < wide) lines[0].emplace_back("...");
  for (size_t at = 0; at + wide <= rows.size() && wide > 0; at += wide) {
    std::vector<std::string>& line = lines.emplace_back();
    line.push_back(cell_text(rows[at].ids[0]));
    for (size_t c = 0; c < columns; ++c) line.push_back(cell_text(rows[at + c].cells[0], digits));
    if (columns < wide) line.emplace_back("...");
  }
  return lines;
}

}  // namespace

std::string title_of(const ViewArray& array) {
  std::string sizes;
  for (size_t d = 0; d < array.shape.size(); ++d) {
    const bool named = !array.dims[d].empty();
    sizes += fmt::format("{}{}{}",
                         d == 0  ? ""
                         : named ? ", "
                                 : " x ",
                         named ? array.dims[d] + " = " : "", grouped(array.shape[d]));
  }
  return sizes.empty() ? array.name : fmt::format("{} ({})", array.name, sizes);
}

std::string shown_rows_text(const ViewArray& array, const std::vector<ViewRow>& rows, const std::string& head,
                            const ShowStyle& style) {
  return head + aligned(lines_of(array, rows, style.digits), style.width);
}

ShownTable shown_table(const ResultView& view, size_t number, const ShowStyle& style, const Rename& renamed) {
  const ViewArray& array = view.arrays().at(number);
  const bool grid = is_grid(array);
  const std::int64_t lines = grid ? array.shape[0] : array.rows, wide = grid ? array.shape[1] : 1;
  const std::int64_t shown = lines <= style.whole ? lines : std::min(lines, style.rows);
  std::vector<ViewRow> rows;
  std::int64_t nan = 0;
  if (shown > 0 || style.counts_nan) {
    view.rows(number, [&](const ViewRow& row) {
      if (std::ssize(rows) < shown * wide) {
        rows.push_back(row);
        if (renamed) renamed(rows.back());
      }
      nan += std::count_if(row.cells.begin(), row.cells.end(), [](const ViewCell& cell) { return cell.is_nan(); });
      return style.counts_nan || std::ssize(rows) < shown * wide;
    });
  }
  if (is_scalar(array) && rows.size() == 1) return {scalar_text(array, rows[0]), {}, true};
  const char* const things = array.sparse ? "nonzeros" : "rows";
  ShownTable table{.head = title_of(array)};
  if (shown < lines) {
    table.head += fmt::format(", the first {} of {} {}", shown, grouped(lines), things);
  } else if (array.sparse || array.shape.empty()) {
    table.head += fmt::format(", {} {}", grouped(lines), things);
  }
  if (nan > 0 && style.counts_nan) table.head += fmt::format(", {} NaN", grouped(nan));
  if (!rows.empty()) table.lines = grid ? grid_of(array, rows, style.digits) : lines_of(array, rows, style.digits);
  return table;
}

std::string shown_array(const ResultView& view, size_t number, const ShowStyle& style, const Rename& renamed) {
  const ShownTable table = shown_table(view, number, style, renamed);
  if (table.lines.empty()) return table.head + "\n";
  return table.head + ":\n" + aligned(table.lines, style.width);
}

std::vector<ViewRow> top_rows(const ResultView& view, size_t array, size_t count) {
  const auto before = [](const ViewRow& a, const ViewRow& b) {
    const ViewCell &x = a.cells.at(0), &y = b.cells.at(0);
    if (x.is_nan() || y.is_nan()) return !x.is_nan() && y.is_nan();
    if (!x.is_real() && !y.is_real()) return x.integer > y.integer;
    return x.number() > y.number();
  };
  std::vector<ViewRow> top;
  const auto keep = [&] {
    std::stable_sort(top.begin(), top.end(), before);
    if (top.size() > count) top.resize(count);
  };
  view.rows(array, [&](const ViewRow& row) {
    if (row.cells.empty()) return false;
    top.push_back(row);
    if (top.size() >= 2 * count + 4096) keep();
    return true;
  });
  keep();
  return top;
}

std::vector<size_t> in_order(const ResultView& view, const std::vector<std::string>& outputs) {
  std::vector<size_t> numbers;
  for (const std::string& name : outputs) {
    const std::string whole = name + ".";  // .npy has a file for each component of a tuple
    for (size_t k = 0; k < view.arrays().size(); ++k)
      if (view.arrays()[k].name == name || view.arrays()[k].name.starts_with(whole)) numbers.push_back(k);
  }
  return numbers;
}

std::string shown_result(const ResultView& view, const ShowStyle& style, const std::vector<std::string>& names,
                         const std::function<Rename(const ViewArray&)>& rename) {
  const auto screen = 6 * style.rows;
  std::int64_t titles = 0;
  std::string text;
  for (const size_t k : in_order(view, names)) {
    const ViewArray& array = view.arrays()[k];
    const bool alone = std::count(text.begin(), text.end(), '\n') > screen && !is_scalar(array);
    titles += alone ? 1 : 0;
    text += alone ? title_of(array) + "\n" : shown_array(view, k, style, rename(array));
  }
  if (titles > 0)
    text += fmt::format("{} alone, beyond a screen; kasen show RESULT NAME prints one\n", count_text(titles, "title"));
  return text;
}

}  // namespace kasen::tools
