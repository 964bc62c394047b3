// Cells of a table in text that hold no value, and what becomes of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libcomm/data/text/number_style.h"

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

// The marks that are numbers, written as the table writes its own or as programs do. They mark every cell of their
// value: -999 marks -999.0 and -9.99e2.
class MissingNumbers {
 public:
  MissingNumbers(const MissingRule& rule, const NumberStyle& style);
  [[nodiscard]] bool has(std::string_view cell) const;

 private:
  NumberStyle style_;
  std::vector<std::string> values_;
};

}  // namespace kasen
