#include "libcomm/data/sources/content.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "libcomm/data/sources/zip.h"
#include "libcore/base/error.h"
#include "libcore/base/suggest.h"

namespace kasen {
namespace {

constexpr std::string_view npy_ending = ".npy";

// In messages; a file may have many.
std::string listed(const std::vector<std::string>& names) {
  constexpr std::ptrdiff_t shown = 12;
  const std::vector<std::string> some(names.begin(), names.begin() + std::min(std::ssize(names), shown));
  const std::string more = std::ssize(names) > shown ? fmt::format(" and {} more", std::ssize(names) - shown) : "";
  return fmt::format("{}{}", fmt::join(some, ", "), more);
}

[[noreturn]] void fail_choice(const DataAddress& address, const std::vector<std::string>& names) {
  const std::string &file = address.file, &array = address.array;
  if (names.empty()) fail(ExitStatus::bad_input, "the file holds no array", {}, {}, {file});
  if (array.empty())
    fail(ExitStatus::bad_input, fmt::format("the file holds {} arrays", names.size()),
         fmt::format("they are {}", listed(names)), fmt::format("name one of them: {}:{}", file, names[0]), {file});
  const std::string near = nearest_name(array, names);
  fail(ExitStatus::bad_input, fmt::format("the file holds no array '{}'", array),
       fmt::format("it holds {}", listed(names)),
       near.empty() ? fmt::format("name one of them: {}:{}", file, names[0]) : fmt::format("did you mean '{}'?", near),
       {file});
}

// As scipy.sparse.save_npz writes it.
bool is_sparse(const ZipArchive& archive) {
  return archive.find("format.npy") != nullptr && archive.find("shape.npy") != nullptr &&
         archive.find("data.npy") != nullptr;
}

std::optional<OpenedArray> open_in_zip(const DataAddress& address) {
  const ZipArchive archive(address.file);
  if (address.array.empty() && is_sparse(archive)) return std::nullopt;
  std::vector<std::string> names;
  for (const ZipMember& member : archive.members())
    if (member.name.ends_with(npy_ending))
      names.push_back(member.name.substr(0, member.name.size() - npy_ending.size()));
  const std::string name = address.array.empty() && names.size() == 1 ? names[0] : address.array;
  const ZipMember* const member = archive.find(fmt::format("{}{}", name, npy_ending));
  if (name.empty() || member == nullptr) fail_choice(address, names);
  return OpenedArray{archive.open(*member), member->size};
}

}  // namespace

bool holds_arrays(std::string_view beginning) {
  return beginning.starts_with("PK\x03\x04") || beginning.starts_with("PK\x05\x06");  // the latter of none
}

DataAddress address_of(const std::string& path) {
  std::error_code none;
  if (std::filesystem::exists(path, none)) return {path, {}};
  for (std::size_t at = path.rfind(':'); at != std::string::npos && at > 0; at = path.rfind(':', at - 1))
    if (std::filesystem::is_regular_file(path.substr(0, at), none)) return {path.substr(0, at), path.substr(at + 1)};
  return {path, {}};
}

std::optional<OpenedArray> open_array(const DataAddress& address, std::string_view beginning, bool regular,
                                      const std::string& path) {
  const bool zip = holds_arrays(beginning);
  if (!zip && address.array.empty()) return std::nullopt;
  if (!zip)
    fail(ExitStatus::bad_input, fmt::format("the file holds no array '{}'", address.array),
         "it is no archive (.npz), whose arrays have names", fmt::format("write {}", address.file), {address.file});
  if (!regular)
    fail(ExitStatus::bad_input, "an archive is not read from a pipe", "its directory is at its end",
         "write it to a file first", {path});
  return open_in_zip(address);
}

}  // namespace kasen
