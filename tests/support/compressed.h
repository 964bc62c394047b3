// Dense arrays compressed in every format, whether it pays or not: by plain tables, so that what a library makes of
// data, and what kernels do with it, is looked at from outside.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "libcore/data/data.h"

namespace kasen::testing {

// What a group shall look like.
struct GroupWish {
  GroupFormat format = GroupFormat::codes;
  std::int64_t code_bytes = 1;
  std::vector<std::int32_t> columns;
};

class ByHandCompression {
 public:
  ByHandCompression(const Array& dense, std::int64_t rows, std::int64_t cols) : dense_(dense) {
    made_.scalar = dense.element.scalar();
    made_.rows = rows;
    made_.cols = cols;
    size_ = scalar_bytes(made_.scalar);
  }

  void add(const GroupWish& wish) {
    ColumnGroup group;
    group.format = wish.format;
    group.first_column = std::ssize(made_.columns);
    group.width = std::ssize(wish.columns);
    group.first_value = std::ssize(values_) / size_;
    group.first_tuple = std::ssize(made_.counts);
    data_.resize((data_.size() + 7) / 8 * 8);
    group.first_byte = std::ssize(data_);
    made_.columns.insert(made_.columns.end(), wish.columns.begin(), wish.columns.end());
    std::vector<std::string> rows;
    for (std::int64_t r = 0; r < made_.rows; ++r) rows.push_back(tuple(wish.columns, r));
    if (wish.format == GroupFormat::plain) {
      for (const std::string& row : rows) append(row);
    } else {
      group.code_bytes = wish.format == GroupFormat::codes ? wish.code_bytes : 0;
      add_tuples(rows, group);
    }
    made_.groups.push_back(group);
  }

  CompressedArray take() {
    made_.values = bytes_of(values_);
    made_.data = bytes_of(data_);
    return std::move(made_);
  }

 private:
  static Bytes bytes_of(const std::vector<char>& from) {
    Bytes bytes(std::ssize(from));
    if (!from.empty()) std::memcpy(bytes.data(), from.data(), from.size());
    return bytes;
  }

  [[nodiscard]] std::string tuple(const std::vector<std::int32_t>& columns, std::int64_t row) const {
    std::string words;
    for (const std::int32_t c : columns) {
      const auto* at = reinterpret_cast<const char*>(dense_.bytes.data()) + (row * made_.cols + c) * size_;
      words.append(at, static_cast<size_t>(size_));
    }
    return words;
  }

  void append(const std::string& words) { data_.insert(data_.end(), words.begin(), words.end()); }
  template <class T>
  void append_number(std::int64_t number) {
    const T word = static_cast<T>(number);
    append(std::string(reinterpret_cast<const char*>(&word), sizeof(T)));
  }

  // Tuples in the order of their bytes, so that zero is the first.
  void add_tuples(const std::vector<std::string>& rows, ColumnGroup& group) {
    std::map<std::string, std::vector<std::int64_t>> found;
    for (size_t r = 0; r < rows.size(); ++r) found[rows[r]].push_back(static_cast<std::int64_t>(r));
    group.tuples = std::ssize(found);
    const std::string zero(static_cast<size_t>(group.width * size_), '\0');
    group.rest_is_zero = group.has_lists() && found.contains(zero);
    std::map<std::string, std::int64_t> number;
    for (const auto& [words, at] : found) {
      number.emplace(words, std::ssize(number));
      values_.insert(values_.end(), words.begin(), words.end());
      made_.counts.push_back(std::ssize(at));
    }
    if (group.has_lists()) return add_lists(found, group);
    for (const std::string& row : rows) add_code(number.at(row), group.code_bytes);
  }

  void add_code(std::int64_t code, std::int64_t bytes) {
    if (bytes == 1) append_number<std::uint8_t>(code);
    if (bytes == 2) append_number<std::uint16_t>(code);
    if (bytes == 4) append_number<std::uint32_t>(code);
  }

  void add_lists(const std::map<std::string, std::vector<std::int64_t>>& found, const ColumnGroup& group) {
    std::vector<std::int64_t> pointers{0}, numbers;
    for (std::int64_t s = 0; s < made_.segments(); ++s) {
      const std::int64_t first = s * rows_of_a_segment;
      std::int64_t tuple = 0;
      for (const auto& [words, rows] : found) {
        if (group.rest_is_zero && tuple++ == 0) continue;
        std::vector<std::int64_t> here;
        for (const std::int64_t r : rows) {
          if (r >= first && r < first + rows_of_a_segment) here.push_back(r - first);
        }
        add_list(here, group.format == GroupFormat::runs, numbers);
        pointers.push_back(std::ssize(numbers));
      }
    }
    for (const std::int64_t p : pointers) append_number<std::int64_t>(p);
    for (const std::int64_t n : numbers) append_number<std::uint16_t>(n);
  }

  static void add_list(const std::vector<std::int64_t>& rows, bool runs, std::vector<std::int64_t>& numbers) {
    for (size_t k = 0; k < rows.size(); ++k) {
      if (runs && k > 0 && rows[k] == rows[k - 1] + 1) {
        ++numbers.back();
        continue;
      }
      numbers.push_back(rows[k]);
      if (runs) numbers.push_back(0);
    }
  }

  const Array& dense_;
  CompressedArray made_;
  std::int64_t size_ = 0;
  std::vector<char> values_, data_;
};

// From this number on all groups are codes of one width, of one column each: several of them are taken together.
inline constexpr int codes_alone = 100;

// Columns in groups of one and two, their formats in turn, beginning with `first`; the last columns before the others.
inline CompressedArray compressed_by_hand(const Array& dense, std::int64_t rows, std::int64_t cols, int first) {
  ByHandCompression by_hand(dense, rows, cols);
  const bool alone = first >= codes_alone;
  for (std::int64_t c = cols; c > 0;) {
    GroupWish wish;
    wish.format = alone ? GroupFormat::codes : static_cast<GroupFormat>(first % 4);
    wish.code_bytes = first % 3 == 0 ? 1 : first % 3 == 1 ? 2 : 4;
    const std::int64_t tuples_of_a_byte = 256;
    if (wish.code_bytes == 1 && rows > tuples_of_a_byte) wish.code_bytes = 2;
    for (int k = 0; k < (alone ? 1 : 1 + first / 2 % 2) && c > 0; ++k)
      wish.columns.push_back(static_cast<std::int32_t>(--c));
    by_hand.add(wish);
    if (!alone) ++first;
  }
  return by_hand.take();
}

// The array of every part, compressed.
inline void compress_by_hand(std::vector<Part>& parts, const std::string& name, int first) {
  for (Part& part : parts) {
    PartArray& array = part.arrays.at(name);
    const auto rows = static_cast<std::int64_t>(part.dims.at(array.dims.at(0)).masters.size());
    const std::int64_t cols = part.dims.at(array.dims.at(1)).size;
    array.compressed = compressed_by_hand(array.data, rows, cols, first);
    array.data.bytes = {};
    array.data.count = 0;
  }
}

}  // namespace kasen::testing
