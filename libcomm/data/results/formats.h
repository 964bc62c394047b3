// The formats of result files, by the rows of formats.def: the facts from which tools take names and endings. It is a
// header alone, so that tools that do not write results need no HDF5.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace kasen {

enum class ResultFormat : std::uint8_t {
#define RESULTS(format, ...) format,
#include "libcomm/data/results/formats.def"
#undef RESULTS
};

enum class FilesOfResult : std::uint8_t { one, several };

// The columns of formats.def.
struct ResultFormatRow {
  ResultFormat format;
  std::string_view name;
  std::string_view ending;
  std::string_view other;
  std::string_view begins;
  FilesOfResult files;
};

inline constexpr std::array result_formats{
#define RESULTS(format, word, ending, other, begins, files, make, lines, verify) \
  ResultFormatRow{ResultFormat::format, word, ending, other, begins, FilesOfResult::files},
#include "libcomm/data/results/formats.def"
#undef RESULTS
};

// The second line of a Matrix Market file of a result.
inline constexpr std::string_view made_by_kasen = "% made by kasen";

// For formats with a file for each output: "r.csv" holds the program's first output. Another output, or a file beside
// them, has a name such as "r-rank.csv".
[[nodiscard]] inline std::string path_of_output(const std::string& path, const std::string& output) {
  const std::filesystem::path whole(path);
  return (whole.parent_path() / (whole.stem().string() + "-" + output + whole.extension().string())).string();
}

// The file beside the result with the words whose codes it may hold, where the data had any: <result>.dictionary.json.
[[nodiscard]] inline std::string dictionary_path(const std::string& result) {
  std::string_view name = result;
  for (const ResultFormatRow& format : result_formats) {
    if (!name.ends_with(format.ending)) continue;
    name.remove_suffix(format.ending.size());
    break;
  }
  return std::string(name) + ".dictionary.json";
}

[[nodiscard]] constexpr const ResultFormatRow& row(ResultFormat format) {
  return result_formats[static_cast<std::size_t>(format)];
}

static_assert(
    [] {
      for (std::size_t a = 0; a < result_formats.size(); ++a) {
        const ResultFormatRow& one = result_formats[a];
        if (one.name.empty() || !one.ending.starts_with('.') || one.ending == one.other) return false;
        for (std::size_t b = 0; b < a; ++b) {
          const ResultFormatRow& other = result_formats[b];
          const bool begins_alike = !one.begins.empty() && one.begins == other.begins;
          if (one.name == other.name || one.ending == other.ending || one.ending == other.other || begins_alike)
            return false;
          if (!one.other.empty() && (one.other == other.ending || one.other == other.other)) return false;
        }
      }
      return true;
    }(),
    "two rows of formats.def have one word, ending or beginning");

}  // namespace kasen
