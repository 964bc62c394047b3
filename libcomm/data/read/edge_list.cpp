// SNAP edge lists, and any other text of one entry a line: `row column [value...]`, separated by blanks, commas or
// semicolons.
#include <algorithm>

#include "libcomm/data/read/entries.h"
#include "libcomm/data/text/first_lines.h"
#include "libcore/base/checked.h"

namespace kasen {
namespace {

// The columns that hold numbers, if none is chosen by name.
std::vector<int> wanted_columns(const ReadOptions& options, const FileColumns& columns, const std::string& path) {
  if (!options.columns.empty()) return chosen_columns(options.columns, columns, path);
  std::vector<int> wanted;
  for (int c = 1; c <= 2 + value_planes(options.element); ++c) wanted.push_back(c);
  return wanted;
}

// The start of the entries, and the separator of their columns.
EntryShape shape_of(TextSource& text, const ReadOptions& options) {
  const std::string top(peek_lines(text, 8));
  const FirstLines first = first_lines(text.path(), top, false);
  FileColumns columns{.names = {}, .count = first.columns(), .open = true};
  NameRule rule{.wanted = any_by_name(options.columns), .boolean = options.element.is(Scalar::boolean)};
  std::vector<std::string> names;
  for (const ColumnChoice& choice : options.columns)
    if (!choice.name.empty()) names.push_back(choice.name);
  check_title(text.path(), first.head, names, ExitStatus::usage);
  if (!rule.wanted) rule.numbers = wanted_columns(options, columns, text.path());
  const bool named = !first.lines.empty() && begins_with_names(first, rule);
  if (named) columns.names = first.lines[0].cells;
  EntryShape shape = entry_shape(options, columns, text.path());
  if (named) shape.from = first.lines[1].at;
  shape.fold = options.element.is(Scalar::null);
  const bool tabs_matter = first.delimiter == '\t' && shape.more_columns;  // an empty column is one, too
  if (first.delimiter != '\t' || tabs_matter) shape.separator = first.delimiter;
  return shape;
}

std::int64_t largest(const EntryList& entries, PackedIds EntryChunk::*axis) {
  std::int64_t id = -1;
  for (const EntryChunk& chunk : entries.chunks) id = std::max(id, (chunk.*axis).largest());
  return id;
}

bool is_edge(const std::vector<std::string_view>& fields) {
  return (fields.size() == 2 || fields.size() == 3) && is_plain_id(fields[0]) && is_plain_id(fields[1]) &&
         looks_numeric(fields.back());
}

}  // namespace

bool looks_like_edges(const FirstFields& lines) { return std::all_of(lines.begin(), lines.end(), is_edge); }

RawMatrix read_edge_list(TextSource& text, const ReadOptions& options) {
  const EntryShape shape = shape_of(text, options);
  RawMatrix matrix;
  matrix.entries = parse_entries(text, shape, options);
  combine_repeats(matrix.entries, options, shape, text);
  matrix.row_count = checked_add(largest(matrix.entries, &EntryChunk::rows), 1, "the largest id");
  matrix.col_count = checked_add(largest(matrix.entries, &EntryChunk::cols), 1, "the largest id");
  return matrix;
}

}  // namespace kasen
