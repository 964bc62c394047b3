// The beginning of a NumPy .npy file (NEP 1, versions 1 to 3).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "libcomm/data/sources/npy_head.h"
#include "libcomm/data/text/input_file.h"
#include "libcore/base/types.h"

namespace kasen {

inline constexpr std::string_view npy_magic = "\x93NUMPY";

// A type of elements that tables are read from.
struct NpyKind {
  std::string_view type;
  std::int64_t bytes;
  Scalar scalar;  // whose planes hold the same bytes; null: none, since a file may have any byte as a bool
  // Converts element `from` of the file into element `to` of a plane; false if it does not fit.
  bool (*convert)(const char* data, std::int64_t from, bool swapped, Scalar scalar, std::byte* plane, std::int64_t to);
};
[[nodiscard]] const NpyKind* npy_kind(std::string_view type);  // null: none

struct NpyHeader {
  std::string descr;     // as in the file, for example '>i4'
  std::string type;      // without the order of bytes, 'i4'
  bool swapped = false;  // its numbers are big-endian
  bool fortran = false;
  std::vector<std::int64_t> shape;
  std::int64_t data = 0;  // byte where the values start
};

// UserError(bad_input) if there is no such header.
[[nodiscard]] NpyHeader read_npy_header(const InputFile& file);
// The same of the beginning of a file, with all of the header.
[[nodiscard]] NpyHeader read_npy_header(std::string_view beginning, const std::string& path);
// Python's expression for the array, in remedies.
[[nodiscard]] std::string loaded_npy(const std::string& path);
[[noreturn]] void fail_npy(const std::string& path, std::string why, std::string remedy = {});
[[noreturn]] void fail_npy(const InputFile& file, std::string why, std::string remedy = {});

// Element `i` of type T at `data`, which may be unaligned.
template <class T>
[[nodiscard]] T npy_element(const char* data, std::int64_t i, bool swapped) {
  std::array<char, sizeof(T)> bytes;
  std::memcpy(bytes.data(), data + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  if (swapped) std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<T>(bytes);
}

}  // namespace kasen
