// What an input is: a file, or one array of a file that holds several. `data.npz:name` is the array `name` of an
// archive, `data.h5:/path` a dataset of an HDF5 file; the content is then that of a .npy file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcomm/data/base/byte_source.h"

namespace kasen {

struct DataAddress {
  std::string file, array;  // no array: none is named
};
// The longest beginning, up to a colon, that is the name of a file; else all of it.
[[nodiscard]] DataAddress address_of(const std::string& path);

struct OpenedArray {
  std::unique_ptr<ByteSource> bytes;
  std::int64_t size = 0;              // of its content
  std::vector<std::int64_t> row_ids;  // of a result of Kasen whose ids have gaps, ascending
};
// Whether a file that begins so holds arrays.
[[nodiscard]] bool holds_arrays(std::string_view beginning);

// The array of a file that holds arrays, by how the file begins. Nothing for other files, and for SciPy's archives of
// one sparse matrix where no array is named. UserError: bad_input (there is no such array, or one of several must be
// chosen; damaged), limit, io.
[[nodiscard]] std::optional<OpenedArray> open_array(const DataAddress& address, std::string_view beginning,
                                                    bool regular, const std::string& path);

}  // namespace kasen
