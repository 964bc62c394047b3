// The formats of result files: the one table from which tools take their names and results.cpp writes them. It is a
// header alone, so that tools that do not write results need no HDF5.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace kasen {

enum class ResultFormat : std::uint8_t { hdf5, csv, npy };

struct ResultFormatRow {
  ResultFormat format;
  std::string_view name;    // for --format
  std::string_view ending;  // of a file that the user has not named
  std::string_view other;   // another ending that it may have; empty: there is none
  bool text;                // lines for the elements, with the ids in them; else their bytes, and the ids apart
  bool digests;             // the file has a digest of each column's bytes
};

inline constexpr std::array<ResultFormatRow, 3> result_formats{{
    // format             name    ending  other   text   digests
    {ResultFormat::hdf5, "hdf5", ".h5", ".hdf5", false, true},
    {ResultFormat::csv, "csv", ".csv", "", true, false},
    {ResultFormat::npy, "npy", ".npy", "", false, false},
}};

// For formats with a file for each output: "r.csv" holds the program's first output. Another output, or a file beside
// them, has a name such as "r-rank.csv".
[[nodiscard]] inline std::string path_of_output(const std::string& path, const std::string& output) {
  const std::filesystem::path whole(path);
  return (whole.parent_path() / (whole.stem().string() + "-" + output + whole.extension().string())).string();
}

[[nodiscard]] constexpr const ResultFormatRow& row(ResultFormat format) {
  return result_formats[static_cast<std::size_t>(format)];
}

static_assert([] {
  for (std::size_t k = 0; k < result_formats.size(); ++k)
    if (result_formats[k].format != static_cast<ResultFormat>(k)) return false;
  return true;
}());

}  // namespace kasen
