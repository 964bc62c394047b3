#include "libcomm/data/compress/compress.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "libcomm/data/base/parallel.h"
#include "libcomm/data/compress/steps.h"
#include "libcore/base/error.h"

namespace kasen {
namespace {

DenseCells cells_of(const Array& dense, std::int64_t rows, std::int64_t cols) {
  return {dense.bytes.data(), rows, cols, scalar_bytes(dense.element.scalar())};
}

// The group's row in the table and its columns' entries in the list.
std::int64_t bytes_of_facts(const EncodedGroup& group) {
  return static_cast<std::int64_t>(sizeof(ColumnGroup)) + 4 * std::ssize(group.columns);
}

// Encodes a planned group. If it takes more than the estimates of its columns apart, they are encoded one by one,
// without those that turn out not to be compressible.
std::vector<EncodedGroup> encode_planned(const DenseCells& cells, const PlannedGroup& planned) {
  const std::int64_t plain = bytes_as_plain(std::ssize(planned.columns), cells);
  const bool single = planned.columns.size() == 1;
  std::vector<EncodedGroup> groups;
  const std::int64_t most = single ? plain : std::min(plain, planned.bytes_apart);
  if (std::optional<EncodedGroup> group = encode_group(cells, planned.columns, most)) {
    groups.push_back(std::move(*group));
    return groups;
  }
  for (const std::int32_t column : planned.columns) {
    if (single) break;
    std::optional<EncodedGroup> group = encode_group(cells, {column}, bytes_as_plain(1, cells));
    if (group) groups.push_back(std::move(*group));
  }
  return groups;
}

// All columns without a group make one more group.
void add_plain(const DenseCells& cells, std::vector<EncodedGroup>& groups) {
  std::vector<std::int32_t> plain(static_cast<std::size_t>(cells.cols));
  std::iota(plain.begin(), plain.end(), 0);
  for (const EncodedGroup& group : groups) {
    for (const std::int32_t column : group.columns) plain[static_cast<std::size_t>(column)] = -1;
  }
  std::erase(plain, -1);
  if (!plain.empty()) groups.push_back(encode_plain(cells, plain));
}

Bytes concatenated(const std::vector<EncodedGroup>& groups, std::vector<std::byte> EncodedGroup::*member) {
  std::int64_t total = 0;
  for (const EncodedGroup& group : groups) total += std::ssize(group.*member);
  Bytes bytes(total);
  std::byte* to = bytes.data();
  for (const EncodedGroup& group : groups) {
    const std::vector<std::byte>& from = group.*member;
    to = std::copy(from.begin(), from.end(), to);
  }
  return bytes;
}

CompressedArray assembled(const DenseCells& cells, Scalar scalar, const std::vector<EncodedGroup>& groups) {
  CompressedArray array{.scalar = scalar, .rows = cells.rows, .cols = cells.cols};
  std::int64_t value = 0, byte = 0;
  for (const EncodedGroup& group : groups) {
    array.groups.push_back(
        {.format = group.format,
         .rest_is_zero = group.rest_is_zero,
         .code_bytes = group.format == GroupFormat::codes ? bytes_of_code(std::ssize(group.counts)) : 0,
         .first_column = std::ssize(array.columns),
         .width = std::ssize(group.columns),
         .tuples = std::ssize(group.counts),
         .first_value = value,
         .first_tuple = std::ssize(array.counts),
         .first_byte = byte});
    array.columns.insert(array.columns.end(), group.columns.begin(), group.columns.end());
    array.counts.insert(array.counts.end(), group.counts.begin(), group.counts.end());
    value += std::ssize(group.values) / cells.width;
    byte += std::ssize(group.data);
  }
  array.values = concatenated(groups, &EncodedGroup::values);
  array.data = concatenated(groups, &EncodedGroup::data);
  return array;
}

// By estimate, including all columns without a group.
bool promises_enough(const std::vector<PlannedGroup>& planned, const DenseCells& cells) {
  std::int64_t bytes = 0, left = cells.cols;
  for (const PlannedGroup& group : planned) {
    bytes += group.bytes;
    left -= std::ssize(group.columns);
  }
  return is_worth_it(bytes + bytes_as_plain(left, cells), bytes_as_plain(cells.cols, cells));
}

}  // namespace

std::optional<CompressedArray> compress(const Array& dense, std::int64_t rows, std::int64_t cols) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (rows < 1 || cols < 1 || rows > most || cols > most) return std::nullopt;
  if (dense.count != rows * cols || !dense.element.is_scalar()) throw InternalError("no matrix of scalars to compress");
  const DenseCells cells = cells_of(dense, rows, cols);
  const std::vector<PlannedGroup> planned = plan_groups(cells);
  if (!promises_enough(planned, cells)) return std::nullopt;
  std::vector<std::vector<EncodedGroup>> encoded(planned.size());
  parallel_for(std::ssize(planned), [&](std::int64_t k, int) {
    encoded[static_cast<std::size_t>(k)] = encode_planned(cells, planned[static_cast<std::size_t>(k)]);
  });
  std::vector<EncodedGroup> groups;
  for (std::vector<EncodedGroup>& made : encoded) std::move(made.begin(), made.end(), std::back_inserter(groups));
  add_plain(cells, groups);
  std::int64_t bytes = 0;
  for (const EncodedGroup& group : groups) bytes += group.bytes() + bytes_of_facts(group);
  if (!is_worth_it(bytes, bytes_as_plain(cols, cells))) return std::nullopt;
  return assembled(cells, dense.element.scalar(), groups);
}

CompressedArray all_plain(const Array& dense, std::int64_t rows, std::int64_t cols) {
  const DenseCells cells = cells_of(dense, rows, cols);
  std::vector<EncodedGroup> groups;
  add_plain(cells, groups);
  return assembled(cells, dense.element.scalar(), groups);
}

}  // namespace kasen
