// The beginning of a NumPy .npy file (NEP 1, versions 1 to 3).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libcomm/data/input_file.h"

namespace kasen {

// Of an array of `extents` elements of `type` ("<f8") in C order; the elements follow it.
[[nodiscard]] std::string npy_header(std::string_view type, const std::vector<std::int64_t>& extents);

struct NpyHeader {
  std::string descr;
  bool fortran = false;
  std::vector<std::int64_t> shape;
  std::int64_t data = 0;  // byte where the values start
};

// UserError(bad_input) for whatever is no such header.
[[nodiscard]] NpyHeader read_npy_header(const InputFile& file);
[[noreturn]] void fail_npy(const InputFile& file, std::string why);

}  // namespace kasen
