#include "libcomm/data/table/missing.h"

#include <algorithm>
#include <array>

namespace kasen {

bool MissingRule::is_missing(std::string_view cell) const {
  static constexpr std::array<std::string_view, 10> always{"",     "NA",   "N/A",  "NaN", "nan",
                                                           "null", "NULL", "None", "?",   "-"};
  return std::find(always.begin(), always.end(), cell) != always.end() ||
         std::find(marks.begin(), marks.end(), cell) != marks.end();
}

}  // namespace kasen
