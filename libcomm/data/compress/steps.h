// The steps of compress(), each in a file of its own; private to it.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "libcore/data/compressed.h"
#include "libcore/data/data.h"

namespace kasen {

// A dense matrix whose cells are distinguished by their bits alone: -0.0 is not 0.0, and a NaN is itself.
struct DenseCells {
  const std::byte* first = nullptr;
  std::int64_t rows = 0, cols = 0, width = 0;  // width: bytes of a cell: 1, 4 or 8

  [[nodiscard]] const std::byte* at(std::int64_t row, std::int64_t col) const {
    return first + (row * cols + col) * width;
  }
  // 0 for the cell whose bytes are all 0.
  [[nodiscard]] std::uint64_t key(std::int64_t row, std::int64_t col) const {
    std::uint64_t bits = 0;
    const std::byte* cell = at(row, col);
    if (width == 8) {
      std::memcpy(&bits, cell, 8);
    } else if (width == 4) {
      std::memcpy(&bits, cell, 4);
    } else {
      std::memcpy(&bits, cell, 1);
    }
    return bits;
  }
};

// Numbers keys 0, 1, 2, ... in the order in which they first occur.
class KeyNumbers {
 public:
  [[nodiscard]] std::int32_t number(std::uint64_t key) {
    std::size_t at = mixed(key) >> shift_;
    while (slots_[at].number >= 0) {
      if (slots_[at].key == key) return slots_[at].number;
      at = (at + 1) & (slots_.size() - 1);
    }
    slots_[at] = {key, count_++};
    if (2 * static_cast<std::size_t>(count_) > slots_.size()) grow();
    return count_ - 1;
  }
  [[nodiscard]] std::int32_t count() const { return count_; }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::int32_t number = -1;
  };
  // After a multiplication by 2^64 over the golden ratio, the upper bits depend on all lower bits of the key.
  [[nodiscard]] static std::uint64_t mixed(std::uint64_t key) { return (key ^ (key >> 32)) * 0x9e3779b97f4a7c15U; }
  void grow();

  std::vector<Slot> slots_ = std::vector<Slot>(64);
  int shift_ = 58;
  std::int32_t count_ = 0;
};

// The facts that determine the size of a group, estimated or counted.
struct GroupFacts {
  std::int64_t width = 1;   // columns
  std::int64_t tuples = 0;  // distinct ones
  std::int64_t filled = 0;  // rows whose tuple is not all zero
  std::int64_t runs = 0;    // of such rows with equal tuples, cut at the ends of segments
  bool has_zero = false;    // some row's tuple is all zero
};
struct GroupSize {
  GroupFormat format = GroupFormat::plain;
  std::int64_t bytes = 0;  // including the counts of its tuples
};
// size.cpp: the smallest format; of equal ones the first.
[[nodiscard]] GroupSize smallest_size(const GroupFacts& facts, const DenseCells& cells);
[[nodiscard]] std::int64_t bytes_as_plain(std::int64_t columns, const DenseCells& cells);
[[nodiscard]] std::int64_t bytes_of_code(std::int64_t tuples);

// estimate.cpp: the number of distinct values in `rows` rows. `occurrences` states how often each value occurs in a
// random sample of them without replacement.
[[nodiscard]] std::int64_t estimate_distinct(std::span<const std::int32_t> occurrences, std::int64_t rows);

// sample.cpp: rows taken at random, ascending, each at most once; a function of the number of rows alone.
[[nodiscard]] std::vector<std::int64_t> sample_rows(std::int64_t rows);

// Some columns in the rows of a sample.
struct SampledGroup {
  std::vector<std::int32_t> columns;  // ascending
  std::vector<std::int32_t> numbers;  // each row's tuple
  std::int32_t distinct = 0;          // in the sample
  std::vector<char> filled, begins;   // whether a row's tuple is not all zero; differs from the row's before
  GroupFacts facts;                   // estimates for all rows
  GroupSize size;
};
// sample.cpp
[[nodiscard]] SampledGroup sampled_column(const DenseCells& cells, std::int32_t column,
                                          const std::vector<std::int64_t>& sample);
[[nodiscard]] SampledGroup joined(const SampledGroup& a, const SampledGroup& b, const DenseCells& cells);

// groups.cpp: columns that form a group, and the bytes that they would take apart.
struct PlannedGroup {
  std::vector<std::int32_t> columns;
  std::int64_t bytes = 0, bytes_apart = 0;  // estimates
};
// Groups of the compressible columns, ordered by their first columns; the other columns are plain.
[[nodiscard]] std::vector<PlannedGroup> plan_groups(const DenseCells& cells);

// encode.cpp: a group as CompressedArray has it, by itself.
struct EncodedGroup {
  std::vector<std::int32_t> columns;
  GroupFormat format = GroupFormat::codes;
  bool rest_is_zero = false;
  std::vector<std::int64_t> counts;  // one a tuple
  std::vector<std::byte> values, data;

  [[nodiscard]] std::int64_t bytes() const { return std::ssize(values) + std::ssize(data) + 8 * std::ssize(counts); }
};
// Nothing if it takes more than `most` bytes, or as much as plain columns.
[[nodiscard]] std::optional<EncodedGroup> encode_group(const DenseCells& cells,
                                                       const std::vector<std::int32_t>& columns, std::int64_t most);
[[nodiscard]] EncodedGroup encode_plain(const DenseCells& cells, const std::vector<std::int32_t>& columns);

// compress.cpp: whether `bytes` instead of `dense` bytes are worth the trouble.
[[nodiscard]] constexpr bool is_worth_it(std::int64_t bytes, std::int64_t dense) {
  return static_cast<double>(bytes) < 0.9 * static_cast<double>(dense);
}
// compress.cpp: one group of all columns, for a part that does not shrink while the others do.
[[nodiscard]] CompressedArray all_plain(const Array& dense, std::int64_t rows, std::int64_t cols);

}  // namespace kasen
