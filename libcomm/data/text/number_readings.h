// What to say about a cell that is no number as the table writes them, but would be one in another style.
#pragma once

#include <string>
#include <string_view>

#include "libcomm/data/text/number_style.h"

namespace kasen {

// Whether the cell is a number in this style, and one of digits alone: no word such as nan.
[[nodiscard]] bool reads_as(std::string_view cell, const NumberStyle& style);

// Names the options that read the cell, all where there are several: 87,613 is 87.613 or 87613. Empty if none does.
// `comma_separates`: an option that gives the comma a meaning is of no use.
[[nodiscard]] std::string other_readings(std::string_view cell, const NumberStyle& style, bool comma_separates);

// What stands beside the one number of a cell: 1.234,5 €.
struct BesideNumber {
  std::string_view number;
  std::string why;  // "'€' stands behind the number"; empty where nothing does, or there is no number
};
[[nodiscard]] BesideNumber beside_number(std::string_view cell, const NumberStyle& style);

// When commas separate cells, though numbers have them.
[[nodiscard]] std::string comma_hint(const NumberStyle& style);

}  // namespace kasen
