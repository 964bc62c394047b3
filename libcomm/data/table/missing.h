// Cells of a table in text that hold no value, and what becomes of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kasen {

struct MissingRule {
  // error: such a cell is no number, but for nan. drop: its row is left out. mean: the mean of the column's other rows.
  enum class How : std::uint8_t { error, drop, mean, value };
  How how = How::error;
  std::string value;               // a number, in its place
  std::vector<std::string> marks;  // words that mark such a cell, beside those that always do

  // Whether it is empty, `NA`, `N/A`, `NaN`, `nan`, `null`, `NULL`, `None`, `?`, `-`, or one of the marks.
  [[nodiscard]] bool is_missing(std::string_view cell) const;
};

}  // namespace kasen
