#include "libcomm/data/view/view.h"

#include <dirent.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "libcomm/data/results/formats.h"
#include "libcomm/data/view/binary.h"
#include "libcore/base/error.h"
#include "libcore/base/suggest.h"

namespace kasen {
namespace {

// By format: view_FORMAT of each row.
constexpr std::array openers{
#define RESULTS(format, ...) view_##format,
#include "libcomm/data/results/formats.def"
#undef RESULTS
};

ResultFormat format_of(const std::string& path) {
  const FileHandle file = FileHandle::open_to_read(path);
  std::string begin(16, '\0');
  begin.resize(
      static_cast<std::size_t>(file.read_some(0, reinterpret_cast<std::byte*>(begin.data()), std::ssize(begin))));
  for (const ResultFormatRow& format : result_formats)
    if (!format.begins.empty() && begin.starts_with(format.begins)) return format.format;
  std::string ending = path.substr(path.size() - std::min(path.size(), row(ResultFormat::csv).ending.size()));
  for (char& c : ending) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (ending == row(ResultFormat::csv).ending) return ResultFormat::csv;
  std::string known;
  for (const ResultFormatRow& format : result_formats)
    known += fmt::format("{}{}", known.empty() ? "" : ", ", format.name);
  fail_view(path, fmt::format("neither its beginning nor its name is that of a format ({})", known));
}

std::vector<std::string> names_beside(const std::string& folder) {
  std::vector<std::string> names;
  DIR* const open = opendir(folder.empty() ? "." : folder.c_str());
  if (open == nullptr) return names;
  while (const dirent* entry = readdir(open)) names.emplace_back(entry->d_name);
  closedir(open);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::vector<ResultFile> files_of_result(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  const std::string name = path.substr(folder.size());
  const std::size_t dot = name.rfind('.');
  std::vector<ResultFile> files{{"", path}};
  if (dot == std::string::npos) return files;
  const std::string stem = name.substr(0, dot) + "-", ending = name.substr(dot);
  for (const std::string& other : names_beside(folder)) {
    if (!other.starts_with(stem) || !other.ends_with(ending) || other.size() <= stem.size() + ending.size()) continue;
    files.push_back({other.substr(stem.size(), other.size() - stem.size() - ending.size()), folder + other});
  }
  return files;
}

std::string name_of(const ResultFile& file, const std::string& first) {
  if (!file.name.empty() || !first.empty()) return file.name.empty() ? first : file.name;
  const std::string name = file.path.substr(file.path.rfind('/') + 1);
  return name.substr(0, name.rfind('.'));
}

void fail_view(const std::string& path, std::string why, std::string remedy) {
  fail(ExitStatus::bad_input, fmt::format("'{}' is not a result of kasen run", path), std::move(why),
       std::move(remedy));
}

std::string cell_text(const ViewCell& cell, int digits) {
  using Kind = ViewCell::Kind;
  if (cell.is_nan()) return "nan";
  if (cell.kind == Kind::word) return cell.word;
  if (cell.kind == Kind::boolean)
    return cell.integer == 0 ? "false" : cell.integer == 1 ? "true" : std::to_string(cell.integer);
  if (cell.kind == Kind::integer) return std::to_string(cell.integer);
  if (digits > 0) return fmt::format("{:.{}g}", cell.real, digits);
  return cell.kind == Kind::single ? fmt::format("{}", static_cast<float>(cell.real)) : fmt::format("{}", cell.real);
}

std::unique_ptr<ResultView> view_result(const std::string& path, const std::string& first,
                                        std::optional<ResultFormat> known) {
  const ResultFormat format = known ? *known : format_of(path);
  return openers.at(static_cast<std::size_t>(format))(path, first);
}

std::size_t find_array(const ResultView& view, const std::string& name, const std::string& path) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < view.arrays().size(); ++k) {
    if (view.arrays()[k].name == name) return k;
    names.push_back(view.arrays()[k].name);
  }
  std::string known;
  for (const std::string& each : names) known += fmt::format("{}'{}'", known.empty() ? "" : ", ", each);
  const std::string near = nearest_name(name, names);
  fail(ExitStatus::usage, fmt::format("'{}' has no '{}'", path, name),
       near.empty() ? "" : fmt::format("did you mean '{}'?", near), fmt::format("it has {}", known));
}

}  // namespace kasen
