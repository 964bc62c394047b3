// SNAP edge lists, and any other text of one entry a line: `row column [value...]`, separated by blanks or a comma.
#include <fmt/format.h>

#include <algorithm>

#include "libcomm/data/formats.h"
#include "libcomm/data/parallel.h"
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

std::int64_t largest(const std::vector<std::int64_t>& ids) {
  return ids.empty() ? -1 : *std::max_element(ids.begin(), ids.end());
}

}  // namespace

RawMatrix read_edge_list(const InputFile& file, const ReadOptions& options) {
  std::int64_t from = skip_comments(file.text());
  if (from < static_cast<std::int64_t>(file.text().size()) && has_header(file.text(), from)) {
    from = next_line(file.text(), from);
  }
  RawMatrix matrix = parse_entries(file, from, entry_shape(options, file.path()), options);
  combine_repeats(matrix, options, file, from);
  parallel_for(2, [&](std::int64_t i, int) {
    (i == 0 ? matrix.row_count : matrix.col_count) =
        checked_add(largest(i == 0 ? matrix.rows : matrix.cols), 1, fmt::format("the largest id of '{}'", file.path()));
  });
  return matrix;
}

}  // namespace kasen
