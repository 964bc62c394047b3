// Matrices to compress, made cell by cell, and what is looked at of what becomes of them.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>

#include "libcomm/data/compress/compress.h"

namespace kasen::cases {

// Cell (r, c) is cell(r, c).
template <class T, class Cell>
Array dense_of(Scalar scalar, std::int64_t rows, std::int64_t cols, const Cell& cell) {
  Array dense(ElementType::of(scalar), rows * cols);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < cols; ++c) dense.as<T>()[r * cols + c] = static_cast<T>(cell(r, c));
  }
  return dense;
}

// Random bits of a cell, by its place alone.
inline std::uint64_t bits_at(std::int64_t row, std::int64_t col, std::uint64_t seed = 1) {
  std::uint64_t x =
      static_cast<std::uint64_t>(row) * 0xd1342543de82ef95U + static_cast<std::uint64_t>(col) + (seed << 48);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

inline bool same_bits(const Array& dense, const CompressedArray& array) {
  Bytes cells(array.dense_bytes());
  if (array.dense_bytes() > 0) std::memset(cells.data(), 0xa5, static_cast<std::size_t>(cells.size()));
  expand_rows(array, 0, array.rows, cells.data());
  return std::memcmp(dense.bytes.data(), cells.data(), static_cast<std::size_t>(cells.size())) == 0;
}

// Compressed, right by the check of files, and cell by cell as it was.
inline CompressedArray compressed_rightly(const Array& dense, std::int64_t rows, std::int64_t cols) {
  std::optional<CompressedArray> array = compress(dense, rows, cols);
  if (!array) {
    ADD_FAILURE() << "not compressed";
    return {};
  }
  EXPECT_EQ(array->scalar, dense.element.scalar());
  EXPECT_EQ(array->rows, rows);
  EXPECT_EQ(array->cols, cols);
  EXPECT_EQ(fault_of(*array), "");
  EXPECT_TRUE(same_bits(dense, *array));
  EXPECT_LT(array->stored_bytes(), array->dense_bytes() * 9 / 10);
  return std::move(*array);
}

// "codes(0 2) plain(1)": the groups with their columns.
inline std::string groups_text(const CompressedArray& array) {
  static constexpr const char* names[] = {"codes", "runs", "offsets", "plain"};
  std::string text;
  for (const ColumnGroup& group : array.groups) {
    text += std::string(text.empty() ? "" : " ") + names[static_cast<int>(group.format)] + "(";
    for (std::int64_t k = 0; k < group.width; ++k) {
      text += (k == 0 ? "" : " ") + std::to_string(array.columns[static_cast<std::size_t>(group.first_column + k)]);
    }
    text += ")";
  }
  return text;
}

}  // namespace kasen::cases
