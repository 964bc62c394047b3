#include "libcomm/data/sources/container.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "libcore/base/error.h"

namespace kasen {
namespace {

using namespace std::string_view_literals;

// `remedy` has FILE in the place of the file's name.
struct Container {
  std::string_view magic;
  const char *name, *remedy;
};

constexpr const char* unpack = "unpack it; gzip, xz and zstd are read as they are";
constexpr const char* convert_parquet =
    "convert it: python3 -c \"import pandas; pandas.read_parquet('FILE').to_csv('FILE.csv', index=False)\"";
constexpr const char* convert_feather =
    "convert it: python3 -c \"import pandas; pandas.read_feather('FILE').to_csv('FILE.csv', index=False)\"";
constexpr const char* convert_workbook =
    "convert it: python3 -c \"import pandas; pandas.read_excel('FILE').to_csv('FILE.csv', index=False)\"";

constexpr std::array<Container, 6> containers{{
    {"PAR1"sv, "Parquet", convert_parquet},
    {"ARROW1\0"sv, "Arrow (Feather)", convert_feather},
    {"FEA1"sv, "Feather", convert_feather},
    {"\xd0\xcf\x11\xe0\xa1\xb1"sv, "an Excel workbook", convert_workbook},
    {"BZh91A"sv, "compressed by bzip2", unpack},
    {"\x04\x22\x4d\x18"sv, "compressed by lz4", unpack},
}};

// A name on the first line of a table might begin so, too.
bool may_be_text(std::string_view beginning, std::string_view magic, const std::string& path) {
  const auto ends = [&](std::string_view ending) { return path.ends_with(ending); };
  if (ends(".parquet") || ends(".feather") || beginning.size() <= magic.size()) return false;
  const auto next = static_cast<unsigned char>(beginning[magic.size()]);
  const bool letters = std::all_of(magic.begin(), magic.end(), [](char c) { return c >= '0' && c <= 'Z'; });
  return letters && (next == '\t' || next == '\n' || next == '\r' || (next >= ' ' && next < 127));
}

// An archive of the files that a workbook has. The first member's name is at byte 30.
bool is_workbook(std::string_view beginning) {
  if (!beginning.starts_with("PK\x03\x04") || beginning.size() <= 30) return false;
  const std::string_view first = beginning.substr(30);
  static constexpr std::array<std::string_view, 5> members{"[Content_Types].xml", "_rels/", "docProps/", "xl/",
                                                           "mimetypeapplication/vnd.oasis"};
  return std::any_of(members.begin(), members.end(), [&](std::string_view m) { return first.starts_with(m); });
}

std::string remedy_for(std::string_view remedy, const std::string& path) {
  std::string text(remedy);
  const bool plain = std::all_of(path.begin(), path.end(), [](char c) {
    return c > ' ' && c != '\'' && c != '"' && c != '\\' && c != '$' && c != '`' && c != '!' && c != 127;
  });
  if (!plain) return text;
  constexpr std::string_view mark = "FILE";
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + path.size()))
    text.replace(at, mark.size(), path);
  return text;
}

[[noreturn]] void refuse(const char* name, const char* remedy, const std::string& path) {
  fail(ExitStatus::bad_input, fmt::format("the file is {}", name), "Kasen does not read this format",
       remedy_for(remedy, path), {path});
}

}  // namespace

void refuse_container(std::string_view beginning, const std::string& path) {
  if (is_workbook(beginning)) refuse("an Excel workbook", convert_workbook, path);
  for (const Container& kind : containers)
    if (beginning.starts_with(kind.magic) && !may_be_text(beginning, kind.magic, path))
      refuse(kind.name, kind.remedy, path);
}

}  // namespace kasen
