// What to do about arrays of other things than numbers.
#pragma once

#include <string>
#include <string_view>

namespace kasen {

// A line that makes files which can be read. `array` is Python's expression for the array, `text` that for its strings,
// and `modules` what both need, beside NumPy.
[[nodiscard]] std::string remedy_for_strings(std::string_view text, std::string_view modules);
[[nodiscard]] std::string remedy_for_complex(std::string_view array, std::string_view modules);
[[nodiscard]] std::string remedy_for_records(std::string_view array, std::string_view modules);

}  // namespace kasen
