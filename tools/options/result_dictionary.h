// The dictionary beside a result that is read again.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include "libcomm/data/results/formats.h"

namespace kasen::tools {

// That of r.h5 is r.dictionary.json, and so is that of r-w.csv, another output of r.csv. Empty: there is none.
[[nodiscard]] inline std::string dictionary_of_result(const std::string& file) {
  std::error_code none;
  const std::filesystem::path whole(file);
  const std::string ending = whole.extension().string();
  for (std::string stem = whole.stem().string(); !stem.empty();) {
    const std::string found = dictionary_path((whole.parent_path() / (stem + ending)).string());
    if (std::filesystem::is_regular_file(found, none)) return found;
    const std::size_t dash = stem.rfind('-');
    stem.resize(dash == std::string::npos ? 0 : dash);
  }
  return "";
}

}  // namespace kasen::tools
