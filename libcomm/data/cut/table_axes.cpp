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
       fmt::format("axis {} has {} indices, and {} has {}", wrong, axes[wrong], input.dims[wrong], fixed[wrong]),
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

void split_rows(InputData& input, const std::vector<std::int64_t>& fixed) {
  const std::size_t given = fixed[0] > 0 ? 0 : 1;
  const std::int64_t rows = input.table.rows, size = fixed[given];
  if (rows % size != 0)
    fail(ExitStatus::bad_input, fmt::format("input '{}' has {} rows", input.name, rows),
         fmt::format("they are those of dimensions {} and {}, and {} has {} indices, which does not divide {}",
                     input.dims[0], input.dims[1], input.dims[given], size, rows),
         fmt::format("leave out {} (--rest drop leaves out the last), or give {} another size",
                     count_text(rows % size, "row"), input.dims[given]));
  const std::int64_t first = given == 0 ? size : rows / size;
  input.extents = {first, first == 0 ? size : rows / first};
  if (fixed.size() == 3) input.extents.push_back(input.table.cols / input.element.planes());
  if (first == 0) return;
  input.table.cols = checked_mul(input.table.cols, rows / first, "an input's size");
  input.table.rows = first;
}

}  // namespace

void settle_axes(std::vector<InputData>& inputs, const std::vector<DimData>& dims) {
  for (InputData& input : inputs) {
    if (input.sparse || input.dims.size() < 2 || !input.extents.empty()) continue;
    std::vector<std::int64_t> fixed;
    for (const std::string& name : input.dims) fixed.push_back(fixed_size(dims, name));
    const bool batches = has_batches(input, dims);
    if (input.dims.size() > 2 && has_its_axes(input, fixed, batches)) {
      input.extents.assign(input.table.axes.begin(), input.table.axes.begin() + std::ssize(input.dims));
    } else if (input.dims.size() > 2 && input.table.named_axes && has_as_many_axes(input)) {
      fail_axis(input, fixed);
    } else if (batches && joins_two(input, fixed)) {
      split_rows(input, fixed);
    } else if (input.dims.size() == 2) {
      input.extents = {input.table.rows, input.table.cols / input.element.planes()};
    }
  }
  settle_batches(inputs, dims);
}

}  // namespace kasen
