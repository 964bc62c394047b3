// Rows behind the last whole block of a dimension that comes in blocks (docs/language.md, Batches), left out on
// request.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "libcore/base/checked.h"
#include "libcore/base/count_text.h"
#include "tools/common/choice.h"
#include "tools/options/cell_options.h"
#include "tools/options/words.h"

namespace kasen::tools {
namespace {

// The size of one of the first two dimensions where those are blocks and their rows, and the rows give the other's.
std::int64_t size_that_divides(const InputData& input, const std::vector<DimData>& dims) {
  if (input.dims.size() < 2) return 0;
  const auto at = [&](std::size_t axis) {
    return std::find_if(dims.begin(), dims.end(), [&](const DimData& d) { return d.name == input.dims[axis]; });
  };
  const auto first = at(0), second = at(1);
  if (first == dims.end() || second == dims.end() || !first->local || second->local) return 0;
  if ((first->size == unknown_size) == (second->size == unknown_size)) return 0;
  return std::max(first->size, second->size);
}

// The first rows of each plane, which are its first elements.
void shorten(RawTable& table, std::int64_t rows) {
  const std::int64_t per_row = table.by_column() ? 1 : table.cols;
  Array values(table.values.element, checked_mul(rows, per_row));
  for (std::int64_t p = 0; p < table.values.element.planes(); ++p)
    std::memcpy(values.plane(p), table.values.plane(p),
                static_cast<std::size_t>(rows * per_row * scalar_bytes(table.values.element.plane_scalar(p))));
  table.values = std::move(values);
  table.rows = rows;
  if (!table.axes.empty()) table.axes.front() = rows;
}

// The entries of a chunk in the first rows.
EntryList entries_before(EntryList chunk, std::int64_t rows) {
  const std::vector<std::int64_t> i = chunk.rows(), j = chunk.cols();
  const Array values = chunk.values();
  std::vector<std::int64_t> kept_rows, kept_cols, from;
  for (std::size_t k = 0; k < i.size(); ++k) {
    if (i[k] >= rows) continue;
    kept_rows.push_back(i[k]);
    kept_cols.push_back(j[k]);
    from.push_back(static_cast<std::int64_t>(k));
  }
  Array kept(chunk.element, std::ssize(from));
  for (std::int64_t p = 0; chunk.valued() && p < chunk.element.planes(); ++p) {
    const std::int64_t width = scalar_bytes(chunk.element.plane_scalar(p));
    for (std::size_t k = 0; k < from.size(); ++k)
      std::memcpy(kept.plane(p) + static_cast<std::int64_t>(k) * width, values.plane(p) + from[k] * width,
                  static_cast<std::size_t>(width));
  }
  return {kept_rows, kept_cols, kept};
}

// Chunk by chunk: of rows in order, the last ones alone are made anew.
void shorten(RawMatrix& matrix, std::int64_t rows) {
  std::vector<EntryChunk> chunks;
  for (EntryChunk& chunk : matrix.entries.chunks) {
    if (chunk.rows.largest() < rows) {
      chunks.push_back(std::move(chunk));
      continue;
    }
    EntryList alone(matrix.entries.element);
    alone.chunks.push_back(std::move(chunk));
    EntryList kept = entries_before(std::move(alone), rows);
    for (EntryChunk& made : kept.chunks) {
      if (matrix.entries.spill) made.move_to(*matrix.entries.spill);
      chunks.push_back(std::move(made));
    }
  }
  matrix.entries.chunks = std::move(chunks);
  matrix.row_count = rows;
}

void shorten(InputData& input, std::int64_t rows, std::int64_t size) {
  const std::int64_t whole = rows / size * size;
  if (whole == 0)
    fail(ExitStatus::bad_input, fmt::format("input '{}' has {}", input.name, count_text(rows, "row")),
         fmt::format("no block of {} is whole, and --rest drop leaves none", size),
         "give it more rows, or smaller blocks");
  input.sparse ? shorten(input.matrix, whole) : shorten(input.table, whole);
}

}  // namespace

bool drops_rest(const po::variables_map& values) {
  return values.count("rest") > 0 && choose(values, "rest", rest_words);
}

std::vector<std::string> drop_rest(std::vector<InputData>& inputs, const std::vector<DimData>& dims) {
  std::vector<std::string> notes;
  const std::vector<std::int64_t> rows_of = rows_of_blocks(inputs, dims);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    InputData& input = inputs[k];
    const std::int64_t size = size_that_divides(input, dims), rows = rows_of[k];
    if (size <= 0 || rows < 0 || rows % size == 0) continue;
    shorten(input, rows, size);
    notes.push_back(fmt::format("{} of {} of input '{}' left out: behind the last whole block ({} x {})", rows % size,
                                count_text(rows, "row"), input.name, input.dims[0], input.dims[1]));
  }
  return notes;
}

}  // namespace kasen::tools
