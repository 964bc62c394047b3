// The beginning of a .npy file that is written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kasen {

// The header of an array of `extents` elements of `type` ("<f8") in C order; the elements follow it. It ends in "),}"
// without a blank, which NumPy reads and does not write: so Kasen knows its own files.
[[nodiscard]] std::string npy_header(std::string_view type, const std::vector<std::int64_t>& extents);

}  // namespace kasen
