// Finds the dimensions of its input that a table's rows and columns are over.
#include <fmt/format.h>

#include <algorithm>

#include "libcomm/data/cut/partition_steps.h"
#include "libcore/base/checked.h"
#include "libcore/base/count_text.h"

namespace kasen {
namespace {

// The fixed size, or unknown_size: then the data decide.
std::int64_t fixed_size(const std::vector<DimData>& dims, const std::string& name) {
  const auto at = std::find_if(dims.begin(), dims.end(), [&](const DimData& d) { return d.name == name; });
  return at == dims.end() ? unknown_size : at->size;
}

// Whether every worker has some of each batch: a local dimension, then one that is cut. Elsewhere, a table of another
// width is a mistake.
bool has_batches(const InputData& input, const std::vector<DimData>& dims) {
  const auto is_local = [&](const std::string& name) {
    return std::any_of(dims.begin(), dims.end(), [&](const DimData& d) { return d.name == name && d.local; });
  };
  return is_local(input.dims[0]) && !is_local(input.dims[1]);
}

// The file has an axis for each dimension, and one for the coordinates of elements that are small arrays.
bool has_as_many_axes(const InputData& input) {
  const std::size_t behind = input.element.planes() > 1 ? 1 : 0;
  return input.table.axes.size() == input.dims.size() + behind;
}

// The file's axes are the dimensions'. With batches, fixed sizes must match, too: a file of images has as many axes,
// but its first are the samples.
bool has_its_axes(const InputData& input, const std::vector<std::int64_t>& fixed, bool batches) {
  if (!has_as_many_axes(input)) return false;
  for (std::size_t axis = 0; axis < fixed.size() && batches; ++axis)
    if (fixed[axis] != unknown_size && fixed[axis] != input.table.axes[axis]) return false;
  return true;
}

// One axis has a size that its dimension does not have; as rows of samples, the numbers would mean nothing.
[[noreturn]] void fail_axis(const InputData& input, const std::vector<std::int64_t>& fixed) {
  const std::vector<std::int64_t>& axes = input.table.axes;
  std::size_t wrong = 0;
  while (fixed[wrong] == unknown_size || fixed[wrong] == axes[wrong]) ++wrong;
  fail(ExitStatus::bad_input,
       fmt::format("input '{}' over [{}] has an array of shape ({})", input.name, fmt::join(input.dims, ", "),
                   fmt::join(axes, ", ")),
       fmt::format("axis {} has {}, and {} has {}", wrong, count_plural(axes[wrong], "index", "indices"),
                   input.dims[wrong], fixed[wrong]),
       fmt::format("give {} that size; or, where the first axis is samples, save rows: numpy.save(name, "
                   "array.reshape(len(array), -1))",
                   input.dims[wrong]));
}

// Are the rows those of the first dimension, or those of the first two, one run of rows after another? The latter if
// one of the two has a fixed size, and the table does not have the former shape.
bool joins_two(const InputData& input, const std::vector<std::int64_t>& fixed) {
  const std::int64_t planes = input.element.planes();
  if (fixed[0] == 0 || fixed[1] == 0) return false;  // no indices, no rows
  if (fixed[0] > 0 ? input.table.rows == fixed[0] : fixed[1] == unknown_size) return false;
  if (fixed.size() == 2 && input.table.cols != planes) return false;
  std::int64_t rest = planes;
  for (std::size_t axis = 1; axis < fixed.size(); ++axis) {
    if (fixed[axis] == unknown_size) return true;
    rest = checked_mul(rest, fixed[axis], "an input's size");
  }
  return input.table.cols != rest;
}

// What the rows of an input's table are, or the first axes of its array.
enum class Rows : std::uint8_t { own_axes, other_axes, of_two, of_first };

Rows rows_of(const InputData& input, const std::vector<std::int64_t>& fixed, bool batches) {
  const bool three = input.dims.size() > 2, joins = batches && joins_two(input, fixed);
  // The first axis of an IDX file is the samples, if no number of batches says otherwise.
  const bool samples = joins && !input.table.named_axes && fixed.size() == 3 && fixed[0] == unknown_size;
  if (three && !samples && has_its_axes(input, fixed, batches)) return Rows::own_axes;
  if (three && input.table.named_axes && has_as_many_axes(input)) return Rows::other_axes;
  return joins ? Rows::of_two : Rows::of_first;
}

std::vector<std::int64_t> fixed_sizes(const InputData& input, const std::vector<DimData>& dims) {
  std::vector<std::int64_t> fixed;
  for (const std::string& name : input.dims) fixed.push_back(fixed_size(dims, name));
  return fixed;
}

// A table for batches of single elements has those of a row's element in its columns, or all of a batch.
void check_columns(const InputData& input, const std::vector<std::int64_t>& fixed) {
  const std::int64_t planes = input.element.planes(), cols = input.table.cols;
  if (fixed.size() != 2 || fixed[0] != unknown_size || fixed[1] == unknown_size || cols == planes) return;
  if (cols != checked_mul(planes, fixed[1], "an input's size")) fail_columns(input, planes);
}

void split_rows(InputData& input, const std::vector<std::int64_t>& fixed) {
  const std::size_t given = fixed[0] > 0 ? 0 : 1;
  RawTable& table = input.table;
  const std::int64_t rows = table.rows, size = fixed[given];
  if (rows % size != 0)
    fail(ExitStatus::bad_input, fmt::format("input '{}' has {}", input.name, count_text(rows, "row")),
         fmt::format("they are those of dimensions {} and {}, and {} has {}, which does not divide {}", input.dims[0],
                     input.dims[1], input.dims[given], count_plural(size, "index", "indices"), rows),
         fmt::format("leave out {} (--rest drop leaves out the last), or give {} another size",
                     count_text(rows % size, "row"), input.dims[given]));
  const std::int64_t first = given == 0 ? size : rows / size;
  input.extents = {first, first == 0 ? size : rows / first};
  const bool axes = table.axes.size() + 1 == input.dims.size() + (input.element.planes() > 1 ? 1 : 0);
  if (fixed.size() == 3) input.extents.push_back(table.cols / input.element.planes());
  if (fixed.size() > 3 && axes)
    input.extents.insert(input.extents.end(), table.axes.begin() + 1, table.axes.begin() + std::ssize(fixed) - 1);
  if (first == 0) return;
  table.cols = checked_mul(table.cols, rows / first, "an input's size");
  table.rows = first;
}

// The number of rows that a file has for the first two dimensions together, or -1.
std::int64_t rows_of_two(const InputData& input, const std::vector<DimData>& dims) {
  if (input.dims.size() < 2 || !input.extents.empty() || !has_batches(input, dims)) return -1;
  if (input.sparse) return has_batches(input) && input.matrix.declared ? input.matrix.row_count : -1;
  const std::vector<std::int64_t> fixed = fixed_sizes(input, dims);
  check_columns(input, fixed);
  const Rows rows = rows_of(input, fixed, true);
  if (rows == Rows::own_axes) return checked_mul(input.table.axes[0], input.table.axes[1], "an input's size");
  return rows == Rows::of_two ? input.table.rows : -1;
}

}  // namespace

void fail_columns(const InputData& input, std::int64_t wanted) {
  fail(ExitStatus::bad_input, fmt::format("input '{}' has {}", input.name, count_text(input.table.cols, "column")),
       fmt::format("its dimensions and element ask for {}", wanted),
       wanted < input.table.cols
           ? fmt::format("choose among those of a text with --columns {}=COLUMNS, or give another file", input.name)
           : "");
}

std::vector<std::int64_t> rows_of_blocks(const std::vector<InputData>& inputs, const std::vector<DimData>& dims) {
  std::vector<std::int64_t> rows;
  for (const InputData& input : inputs) {
    rows.push_back(rows_of_two(input, dims));
    for (std::size_t k = 0; k + 1 < rows.size() && rows.back() >= 0; ++k) {
      const InputData& other = inputs[k];
      const bool together = rows[k] >= 0 && std::equal(other.dims.begin(), other.dims.begin() + 2, input.dims.begin());
      if (!together || rows[k] == rows.back()) continue;
      fail(ExitStatus::bad_input,
           fmt::format("input '{}' has {}, and input '{}' has {}", other.name, count_text(rows[k], "row"), input.name,
                       rows.back()),
           fmt::format("both are over dimensions {} and {}", input.dims[0], input.dims[1]),
           "give files that belong together");
    }
  }
  return rows;
}

void settle_axes(std::vector<InputData>& inputs, const std::vector<DimData>& dims) {
  (void)rows_of_blocks(inputs, dims);
  for (InputData& input : inputs) {
    if (input.sparse || input.dims.size() < 2 || !input.extents.empty()) continue;
    const std::vector<std::int64_t> fixed = fixed_sizes(input, dims);
    switch (rows_of(input, fixed, has_batches(input, dims))) {
      case Rows::own_axes:
        input.extents.assign(input.table.axes.begin(), input.table.axes.begin() + std::ssize(input.dims));
        break;
      case Rows::other_axes:
        fail_axis(input, fixed);
      case Rows::of_two:
        split_rows(input, fixed);
        break;
      case Rows::of_first:
        if (input.dims.size() == 2) input.extents = {input.table.rows, input.table.cols / input.element.planes()};
        break;
    }
  }
  settle_batches(inputs, dims);
}

}  // namespace kasen
