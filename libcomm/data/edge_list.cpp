// SNAP edge lists, and any other text of one entry a line: `row column [value...]`, separated by blanks or a comma.
#include <algorithm>

#include "libcomm/data/entries.h"
#include "libcore/checked.h"

namespace kasen {
namespace {

// A first line of words over lines that begin with a number, in a file of commas or semicolons.
bool has_header(std::string_view text, std::int64_t at) {
  const std::int64_t next = skip_comments(text, next_line(text, at));
  const auto line = text.substr(static_cast<size_t>(at), static_cast<size_t>(next - at));
  if (line.find_first_of(",;") == std::string_view::npos || next >= static_cast<std::int64_t>(text.size()))
    return false;
  const auto numeric = [](std::string_view from) {
    return is_digit(from[std::min(from.find_first_not_of(" \t\""), from.size() - 1)]);
  };
  return !numeric(line) && numeric(text.substr(static_cast<size_t>(next)));
}

std::int64_t largest(const EntryList& entries, PackedIds EntryChunk::*axis) {
  std::int64_t id = -1;
  for (const EntryChunk& chunk : entries.chunks) id = std::max(id, (chunk.*axis).largest());
  return id;
}

}  // namespace

RawMatrix read_edge_list(TextSource& text, const ReadOptions& options) {
  EntryShape shape = entry_shape(options, text.path());
  const std::string_view top = peek_lines(text, 2);
  const std::int64_t first = skip_comments(top);
  if (first < static_cast<std::int64_t>(top.size()) && has_header(top, first)) shape.from = next_line(top, first);
  RawMatrix matrix;
  matrix.entries = parse_entries(text, shape, options);
  combine_repeats(matrix.entries, options, shape, text);
  matrix.row_count = checked_add(largest(matrix.entries, &EntryChunk::rows), 1, "the largest id");
  matrix.col_count = checked_add(largest(matrix.entries, &EntryChunk::cols), 1, "the largest id");
  return matrix;
}

}  // namespace kasen
