// The rows of formats.def, what must hold between them, and which of them a file is: by how its content begins, where
// its name allows several.
#include "libcomm/data/read/formats.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "libcore/base/error.h"

namespace kasen {
namespace {

constexpr std::array rows{
#define READER(format, word, endings, content, columns, begins, looks, rank, matrix, table, blocks) \
  FormatRow{FileFormat::format,                                                                     \
            endings,                                                                                \
            TextSource::Content::content,                                                           \
            ChosenColumns::columns,                                                                 \
            begins,                                                                                 \
            looks,                                                                                  \
            rank,                                                                                   \
            matrix,                                                                                 \
            table,                                                                                  \
            blocks},
#include "libcomm/data/read/formats.def"
#undef READER
};

// Takes the first of the words that blanks separate.
constexpr std::string_view take_ending(std::string_view& endings) {
  const std::string_view first = endings.substr(0, endings.find(' '));
  endings.remove_prefix(std::min(first.size() + 1, endings.size()));
  return first;
}

constexpr bool ends_so(std::string_view name, std::string_view endings) {
  while (!endings.empty())
    if (name.ends_with(take_ending(endings))) return true;
  return false;
}

constexpr bool share_ending(std::string_view some, std::string_view others) {
  for (std::string_view rest = some; !rest.empty();)
    if (ends_so(take_ending(rest), others)) return true;
  for (std::string_view rest = others; !rest.empty();)
    if (ends_so(take_ending(rest), some)) return true;
  return false;
}

// Detection finds one row, in whatever order the rows stand.
[[maybe_unused]] constexpr bool can_be_told_apart() {
  for (std::size_t a = 0; a < rows.size(); ++a) {
    if (file_format_words[a].first.empty()) return false;
    for (std::size_t b = 0; b < a; ++b) {
      const bool alike = rows[a].looks != no_guess && rows[b].looks != no_guess && rows[a].rank == rows[b].rank;
      if (alike || file_format_words[a].first == file_format_words[b].first) return false;
      if (share_ending(rows[a].endings, rows[b].endings)) return false;
    }
  }
  const auto last =
      std::max_element(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
  return last->looks == any_lines;
}
#ifndef __SANITIZE_ADDRESS__  // GCC 12 compares no addresses of functions in constants then
static_assert(can_be_told_apart(), "two rows of formats.def have one word, ending or rank, or any_lines is not last");
#endif

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  size_t at = 0;
  while ((at = line.find_first_not_of(" \t\r\n,;", at)) != std::string_view::npos) {
    const size_t end = std::min(line.find_first_of(" \t\r\n,;", at), line.size());
    fields.push_back(line.substr(at, end - at));
    at = end;
  }
  return fields;
}

FirstFields first_fields(std::string_view beginning) {
  FirstFields lines;
  std::int64_t at = skip_comments(beginning);
  while (lines.size() < 100 && at < static_cast<std::int64_t>(beginning.size())) {
    const std::int64_t end = next_line(beginning, at);
    // The last line of the beginning may be cut in the middle.
    if (!lines.empty() && end == static_cast<std::int64_t>(beginning.size()) && beginning.back() != '\n') break;
    lines.push_back(fields_of(beginning.substr(static_cast<size_t>(at), static_cast<size_t>(end - at))));
    at = skip_comments(beginning, end);
  }
  return lines;
}

}  // namespace

std::span<const FormatRow> format_rows() { return rows; }

bool no_beginning(std::string_view) { return false; }
bool no_guess(const FirstFields&) { return false; }
bool any_lines(const FirstFields&) { return true; }
std::unique_ptr<BlockReader> no_blocks(const ReadOptions&, const std::string&) { return nullptr; }
RawMatrix no_matrix(TextSource&, const ReadOptions&) { throw InternalError("a format's blocks read no matrix"); }

std::string_view unpacked_name(std::string_view path) {
  for (const std::string_view packed : {".gz", ".xz", ".zst"})
    if (path.ends_with(packed)) path.remove_suffix(packed.size());
  return path;
}

bool is_plain_id(std::string_view field) { return field.find_first_not_of("0123456789") == std::string_view::npos; }

const FormatRow& detect_row(const std::string& path, std::string_view beginning) {
  for (const FormatRow& row : rows)
    if (row.begins(beginning)) return row;
  const std::string_view name = unpacked_name(path);
  for (const FormatRow& row : rows)
    if (ends_so(name, row.endings)) return row;
  const FirstFields lines = first_fields(beginning);
  const FormatRow* likely = nullptr;
  for (const FormatRow& row : rows)
    if (row.looks(lines) && (likely == nullptr || row.rank < likely->rank)) likely = &row;
  if (likely == nullptr) throw InternalError("no format takes any lines");
  return *likely;
}

}  // namespace kasen
