// Dense matrices compressed by groups of columns whose rows repeat a few tuples of values, as in SystemML (Elgohary et
// al., "Compressed Linear Algebra", VLDB 2016). Work on such a matrix visits its distinct tuples or the codes of its
// rows. Only a few rows of its cells are ever decompressed at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libcore/base/types.h"
#include "libcore/system/memory.h"

namespace kasen {

enum class GroupFormat : std::uint8_t {
  codes,    // for every row the number of its tuple, in 1, 2 or 4 bytes
  runs,     // for every tuple the runs of rows that hold it
  offsets,  // for every tuple the rows that hold it
  plain,    // no tuples: the values of every row
};

// Runs and offsets are kept by segments of rows, as 2-byte numbers within one.
inline constexpr std::int64_t rows_of_a_segment = 65536;

// The positions of a group's data in the lists of its matrix.
struct ColumnGroup {
  GroupFormat format = GroupFormat::plain;
  // Tuple 0 is all zero bytes. All rows outside the listed runs or offsets hold it, so it has no lists.
  bool rest_is_zero = false;
  std::int64_t code_bytes = 0;    // codes: 1, 2 or 4
  std::int64_t first_column = 0;  // index in `columns`
  std::int64_t width = 1;         // columns
  std::int64_t tuples = 0;        // 0: plain
  std::int64_t first_value = 0;   // index in `values`, in scalars; a tuple's values are contiguous
  std::int64_t first_tuple = 0;   // index in `counts`
  std::int64_t first_byte = 0;    // index in `data`, a multiple of 8

  // Tuples that have lists.
  [[nodiscard]] std::int64_t listed() const { return tuples - (rest_is_zero ? 1 : 0); }
  [[nodiscard]] bool has_lists() const { return format == GroupFormat::runs || format == GroupFormat::offsets; }
};

// The data of a group in `data`, from `first_byte` on, little-endian:
//   codes    rows * code_bytes
//   plain    rows * width scalars, row by row
//   offsets  segments * listed + 1 pointers of 8 bytes, by segment and then by tuple, into the lists that follow:
//            the rows, counted from the segment's first, ascending within a list, in 2 bytes each
//   runs     the same; a run is two numbers: its first row, and its length - 1; ascending, without overlap
struct CompressedArray {
  Scalar scalar = Scalar::f64;
  std::int64_t rows = 0, cols = 0;
  std::vector<ColumnGroup> groups;
  std::vector<std::int32_t> columns;  // of the groups, one after another: each column of the matrix once
  std::vector<std::int64_t> counts;   // rows that hold a tuple, at least one
  Bytes values;                       // of tuples
  Bytes data;

  [[nodiscard]] std::int64_t segments() const { return (rows + rows_of_a_segment - 1) / rows_of_a_segment; }
  [[nodiscard]] std::int64_t dense_bytes() const { return rows * cols * scalar_bytes(scalar); }
  // Bytes of the whole array.
  [[nodiscard]] std::int64_t stored_bytes() const { return values.size() + data.size() + 8 * std::ssize(counts); }
  // Bytes that a pass over distinct values and their counts reads: values, counts and plain groups.
  [[nodiscard]] std::int64_t distinct_bytes() const;
};

// The bytes that reads of a compressed array cost (docs/cost.md).
struct CompressedBytes {
  std::int64_t stored = 0, distinct = 0;
};

// The lists of one group.
class GroupLists {
 public:
  GroupLists(const CompressedArray& array, const ColumnGroup& group);
  // The list of `tuple` in `segment`; tuple 0 has none if `rest_is_zero`.
  [[nodiscard]] std::span<const std::uint16_t> of(std::int64_t segment, std::int64_t tuple) const {
    const std::int64_t at = segment * listed_ + tuple - unlisted_;
    return {numbers_ + pointers_[at], numbers_ + pointers_[at + 1]};
  }

 private:
  const std::int64_t* pointers_;
  const std::uint16_t* numbers_;
  std::int64_t listed_, unlisted_;
};

// Calls body(tuple, begin, end) for the runs of rows within begin..end of tuples with lists. An offset is a run of one.
template <class Body>
void each_listed_run(const CompressedArray& array, const ColumnGroup& group, std::int64_t begin, std::int64_t end,
                     const Body& body);

// For codes: calls `use` with a pointer to the code of row 0, in the width of the group's codes.
template <class Use>
void with_codes(const CompressedArray& array, const ColumnGroup& group, const Use& use);

// Writes rows begin to end to `out` as a dense matrix, row by row; `out` holds only these rows. `columns` has a flag
// for each wanted column, and `out` keeps its content in the other columns. Without `columns` all are wanted.
void expand_rows(const CompressedArray& array, std::int64_t begin, std::int64_t end, std::byte* out,
                 std::span<const char> columns = {});

// The error in an array from a file, or nothing. Checks all that the functions above rely on, and that the lists of a
// group name each row once.
[[nodiscard]] std::string fault_of(const CompressedArray& array);

template <class Use>
void with_codes(const CompressedArray& array, const ColumnGroup& group, const Use& use) {
  const std::byte* data = array.data.data() + group.first_byte;
  switch (group.code_bytes) {
    case 1:
      return use(reinterpret_cast<const std::uint8_t*>(data));
    case 2:
      return use(reinterpret_cast<const std::uint16_t*>(data));
    default:
      return use(reinterpret_cast<const std::uint32_t*>(data));
  }
}

namespace detail {

// The index of the first entry of a list (`step` numbers each) that ends after `begin`.
[[nodiscard]] inline size_t first_entry(std::span<const std::uint16_t> list, size_t step, std::int64_t begin) {
  size_t low = 0, high = list.size() / step;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    const std::int64_t last = list[middle * step] + (step == 2 ? list[middle * step + 1] : 0);
    if (last < begin) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace detail

template <class Body>
void each_listed_run(const CompressedArray& array, const ColumnGroup& group, std::int64_t begin, std::int64_t end,
                     const Body& body) {
  const GroupLists lists(array, group);
  const size_t step = group.format == GroupFormat::runs ? 2 : 1;
  for (std::int64_t s = begin / rows_of_a_segment; s * rows_of_a_segment < end; ++s) {
    const std::int64_t base = s * rows_of_a_segment, from = begin - base, to = end - base;
    for (std::int64_t t = group.tuples - group.listed(); t < group.tuples; ++t) {
      const std::span<const std::uint16_t> list = lists.of(s, t);
      for (size_t k = detail::first_entry(list, step, from) * step; k < list.size() && list[k] < to; k += step) {
        const std::int64_t first = list[k], last = first + (step == 2 ? list[k + 1] : 0);
        body(t, base + std::max(first, from), base + std::min(last + 1, to));
      }
    }
  }
}

}  // namespace kasen
