// The formats of result files: the one table of them, by which tools name them and results.cpp writes them. A header
// alone, so that tools that do not write results need no HDF5 for it.
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
  std::string_view other;   // another ending by which it is known; empty: there is none
  bool text;                // lines for the elements, with the ids in them; else their bytes, and the ids apart
  bool digests;             // the file has one of each column's bytes
};

inline constexpr std::array<ResultFormatRow, 3> result_formats{{
    // format             name    ending  other   text   digests
    {ResultFormat::hdf5, "hdf5", ".h5", ".hdf5", false, true},
    {ResultFormat::csv, "csv", ".csv", "", true, false},
    {ResultFormat::npy, "npy", ".npy", "", false, false},
}};

// Where a format has a file for each output: "r.csv" holds the program's first, and this one another of its outputs or
// what stands beside them: "r-rank.csv".
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
