// Detects the format of a file: by how its content begins, where its name allows several.
#include <algorithm>
#include <array>
#include <string_view>

#include "libcomm/data/read/formats.h"

namespace kasen {
namespace {

struct Extension {
  std::string_view ending;
  FileFormat format;
};

constexpr std::array<Extension, 7> extensions{{
    {".csv", FileFormat::csv},
    {".svm", FileFormat::libsvm},
    {".libsvm", FileFormat::libsvm},
    {".el", FileFormat::edge_list},
    {".edges", FileFormat::edge_list},
    {".idx", FileFormat::idx},
    {"-ubyte", FileFormat::idx},
}};

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  size_t at = 0;
  while ((at = line.find_first_not_of(" \t\r\n,;", at)) != std::string_view::npos) {
    const size_t end = std::min(line.find_first_of(" \t\r\n,;", at), line.size());
    fields.push_back(line.substr(at, end - at));
    at = end;
  }
  return fields;
}

bool is_id(std::string_view field) { return field.find_first_not_of("0123456789") == std::string_view::npos; }

bool is_feature(std::string_view field) {
  const size_t colon = field.find(':');
  return colon != std::string_view::npos && is_id(field.substr(0, colon)) && looks_numeric(field.substr(colon + 1));
}

bool is_edge(const std::vector<std::string_view>& fields) {
  return (fields.size() == 2 || fields.size() == 3) && is_id(fields[0]) && is_id(fields[1]) &&
         looks_numeric(fields.back());
}

// The properties that all first lines with content share.
struct Likeness {
  bool libsvm = false, edges = true;
};

Likeness likeness(std::string_view beginning) {
  Likeness like;
  std::int64_t at = skip_comments(beginning);
  for (int lines = 0; lines < 100 && at < static_cast<std::int64_t>(beginning.size()); ++lines) {
    const std::int64_t end = next_line(beginning, at);
    // The last line of the beginning may be cut in the middle.
    if (lines > 0 && end == static_cast<std::int64_t>(beginning.size()) && beginning.back() != '\n') break;
    const auto fields = fields_of(beginning.substr(static_cast<size_t>(at), static_cast<size_t>(end - at)));
    like.libsvm = like.libsvm || (fields.size() > 1 && is_feature(fields[1]));
    like.edges = like.edges && is_edge(fields);
    at = skip_comments(beginning, end);
  }
  return like;
}

}  // namespace

FileFormat detect_format(const std::string& path, std::string_view beginning) {
  if (beginning.starts_with("\x93NUMPY")) return FileFormat::npy;
  if (begins_as_idx(beginning)) return FileFormat::idx;
  if (beginning.starts_with("%%MatrixMarket") || beginning.starts_with("%%matrixmarket"))
    return FileFormat::matrix_market;
  std::string_view name = path;
  for (const std::string_view packed : {".gz", ".xz"}) {
    if (name.ends_with(packed)) name.remove_suffix(packed.size());
  }
  if (name.ends_with(".mtx")) return FileFormat::matrix_market;
  if (name.ends_with(".npy")) return FileFormat::npy;
  const auto known =
      std::find_if(extensions.begin(), extensions.end(), [&](const Extension& e) { return name.ends_with(e.ending); });
  if (known != extensions.end()) return known->format;
  const Likeness like = likeness(beginning);
  if (like.libsvm) return FileFormat::libsvm;
  return like.edges ? FileFormat::edge_list : FileFormat::csv;
}

}  // namespace kasen
