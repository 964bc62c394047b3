// The content of an HDF5 file, as another process reports it (examiner.h): in this process the library never sees a
// file of others. Only files of the plain profile (file.h) have a content.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libcomm/data/hdf5/examiner.h"
#include "libcomm/data/hdf5/file.h"

namespace kasen {

struct StoredDataset {
  FileType type = FileType::f64;
  std::vector<std::int64_t> extents;
  std::int64_t offset = 0;  // of its first byte; all of them lie within the file
  std::string digest;       // as its attribute states it; empty without one
};
using StoredDatasets = std::map<std::string, StoredDataset, std::less<>>;  // by their whole paths

// Attributes of groups and datasets that describe them, as JSON without blanks: `dims` and `matrix` (results/hdf5.cpp).
inline constexpr std::array<const char*, 2> stored_texts{"dims", "matrix"};
inline constexpr std::size_t most_text_bytes = 4096;
[[nodiscard]] bool is_stored_text(std::string_view text);  // short, of visible letters of ASCII
struct StoredText {
  std::string name, text, object;  // object: its whole path
};

// `texts` gets the attributes. UserError: bad_input (not an HDF5 file, or one with content that Kasen never writes),
// limit.
[[nodiscard]] StoredDatasets stored_datasets(const FileHandle& file, const std::string& path,
                                             std::vector<StoredText>* texts = nullptr);

// Its second half: reads the answer about a file of so many bytes. Nothing in the answer is trusted.
[[nodiscard]] StoredDatasets datasets_of_answer(std::string_view answer, std::int64_t bytes, const std::string& path,
                                                std::vector<StoredText>* texts = nullptr);

// What a dataset may hold in place of numbers: values of SurveyedDataset::why.
inline constexpr std::string_view holds_strings = "holds strings", holds_complex = "holds complex numbers",
                                  holds_records = "holds records of several fields";
// A dataset of a file of any maker: its values lie together, or `why` says what keeps them from being read.
struct SurveyedDataset {
  std::string path, why;
  std::string type;  // as NumPy names it: "<f8"
  std::vector<std::int64_t> extents;
  std::int64_t offset = 0, bytes = 0;  // within the file
  std::string first_dim;               // of a result of Kasen; empty without one
};
// All of a file, in its order. UserError: bad_input (not an HDF5 file), limit.
[[nodiscard]] std::vector<SurveyedDataset> surveyed_datasets(const FileHandle& file, const std::string& path);
// Its second half, as datasets_of_answer.
[[nodiscard]] std::vector<SurveyedDataset> survey_of_answer(std::string_view answer, std::int64_t bytes,
                                                            const std::string& path);
// A line for each dataset: type, offset, rank, extents, first dimension or `-`, path; or `! WHY|PATH`.
[[nodiscard]] Examiner::Work hdf5_survey();

// examine.cpp, in that process: the answer as text. `ok`, then a line for each dataset: type, offset, rank, extents,
// digest or `-`, path. Between these, a line for each attribute of stored_texts: its name, its text, path. Or `no`, the
// object and its error, a line each; `unread` and the reason; `memory`.
[[nodiscard]] Examiner::Work hdf5_examination();
inline constexpr std::array<std::string_view, 5> file_type_names{"f64", "f32", "i64", "i32", "u8"};
inline constexpr std::int64_t most_file_rank = 17;  // of an array, and the coordinates of its elements

}  // namespace kasen
