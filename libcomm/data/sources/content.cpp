#include "libcomm/data/sources/content.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <system_error>
#include <vector>

#include "libcomm/data/base/new_file.h"
#include "libcomm/data/hdf5/content.h"
#include "libcomm/data/sources/npy_head.h"
#include "libcomm/data/sources/other_content.h"
#include "libcomm/data/sources/zip.h"
#include "libcore/base/error.h"
#include "libcore/base/suggest.h"
#include "libcore/system/memory_limit.h"

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

// A dataset as a .npy file: a header, then the values where they lie.
class DatasetBytes : public ByteSource {
 public:
  DatasetBytes(std::shared_ptr<const FileHandle> file, const SurveyedDataset& set, std::string head)
      : file_(std::move(file)), head_(std::move(head)), at_(set.offset), end_(set.offset + set.bytes) {}

  [[nodiscard]] std::int64_t read(char* to, std::int64_t bytes) override {
    const std::int64_t of_head = std::min(bytes, std::ssize(head_) - given_);
    std::copy_n(head_.data() + given_, of_head, to);
    given_ += of_head;
    const std::int64_t of_values = std::min(bytes - of_head, end_ - at_);
    if (of_values > 0) file_->read(at_, reinterpret_cast<std::byte*>(to + of_head), of_values);
    at_ += of_values;
    return of_head + of_values;
  }

 private:
  std::shared_ptr<const FileHandle> file_;
  std::string head_;
  std::int64_t given_ = 0, at_, end_;
};

const SurveyedDataset* find_set(const std::vector<SurveyedDataset>& sets, std::string_view path) {
  const auto at = std::find_if(sets.begin(), sets.end(), [&](const auto& set) { return set.path == path; });
  return at == sets.end() ? nullptr : &*at;
}

const SurveyedDataset* ids_of(const std::vector<SurveyedDataset>& sets, const SurveyedDataset& set) {
  if (set.first_dim.empty()) return nullptr;
  const SurveyedDataset* const ids = find_set(sets, fmt::format("/{}_ids", set.first_dim));
  const bool fits = ids != nullptr && ids->why.empty() && ids->type == "<i8" && ids->extents.size() == 1 &&
                    ids->extents[0] == set.extents[0];
  return fits ? ids : nullptr;
}

// The ids of a result's rows, which are ascending in all that Kasen writes.
std::vector<std::int64_t> read_ids(const FileHandle& file, const SurveyedDataset& ids) {
  const std::optional<std::int64_t> available = available_memory();
  if (available && ids.bytes > *available)
    fail(ExitStatus::limit, fmt::format("the ids '{}' need {} bytes of memory", ids.path, ids.bytes),
         fmt::format("this process can take {}", *available), "use a larger machine or a smaller input", {file.path()});
  std::vector<std::int64_t> rows(static_cast<std::size_t>(ids.extents[0]));
  file.read(ids.offset, reinterpret_cast<std::byte*>(rows.data()), ids.bytes);
  const bool ascending = std::adjacent_find(rows.begin(), rows.end(), std::greater_equal<>()) == rows.end();
  if (!ascending || (!rows.empty() && rows.front() < 0))
    fail(ExitStatus::bad_input, fmt::format("the ids '{}' are not ascending from 0 on", ids.path),
         "results of Kasen have such ids", "make the result again", {file.path()});
  return rows;
}

std::string remedy_for_dataset(const std::string& file, const SurveyedDataset& set) {
  const std::string from = fmt::format("h5py.File('{}')['{}']", file, set.path), array = from + "[()]";
  constexpr std::string_view modules = "h5py, numpy";
  if (set.why == holds_strings) return remedy_for_strings(from + ".asstr()[()]", modules);
  if (set.why == holds_complex) return remedy_for_complex(array, modules);
  if (set.why == holds_records) return remedy_for_records(array, modules);
  return fmt::format("save it: python3 -c \"import h5py, numpy; numpy.save('data.npy', {})\"", array);
}

[[noreturn]] void fail_dataset(const std::string& file, const SurveyedDataset& set) {
  fail(ExitStatus::bad_input, fmt::format("the dataset '{}' is not read", set.path), fmt::format("it {}", set.why),
       remedy_for_dataset(file, set), {file});
}

OpenedArray open_in_hdf5(const DataAddress& address) {
  const auto file = std::make_shared<const FileHandle>(FileHandle::open_to_read(address.file));
  const std::vector<SurveyedDataset> sets = surveyed_datasets(*file, address.file);
  std::vector<std::string> names;
  for (const SurveyedDataset& set : sets) {
    const bool is_ids = std::any_of(sets.begin(), sets.end(), [&](const auto& s) { return ids_of(sets, s) == &set; });
    if (!is_ids) names.push_back(set.path);
  }
  std::string name = address.array.empty() && names.size() == 1 ? names[0] : address.array;
  if (!name.empty() && !name.starts_with('/')) name.insert(0, 1, '/');
  const SurveyedDataset* const set = find_set(sets, name);
  if (set == nullptr) fail_choice(address, names);
  if (!set->why.empty()) fail_dataset(address.file, *set);
  const SurveyedDataset* const ids = ids_of(sets, *set);
  std::string head = npy_header(set->type, set->extents);
  const std::int64_t size = std::ssize(head) + set->bytes;
  return {std::make_unique<DatasetBytes>(file, *set, std::move(head)), size,
          ids != nullptr ? read_ids(*file, *ids) : std::vector<std::int64_t>()};
}

bool is_hdf5(std::string_view beginning) { return beginning.starts_with("\x89HDF"); }

}  // namespace

bool holds_arrays(std::string_view beginning) {
  const bool zip = beginning.starts_with("PK\x03\x04") || beginning.starts_with("PK\x05\x06");  // the latter of none
  return zip || is_hdf5(beginning);
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
  const bool several = holds_arrays(beginning);
  if (!several && address.array.empty()) return std::nullopt;
  if (!several)
    fail(ExitStatus::bad_input, fmt::format("the file holds no array '{}'", address.array),
         "it is neither an archive (.npz) nor HDF5, whose arrays have names", fmt::format("write {}", address.file),
         {address.file});
  if (!regular)
    fail(ExitStatus::bad_input, "a file of several arrays is not read from a pipe", "it is read at several places",
         "write it to a file first", {path});
  if (is_hdf5(beginning)) return open_in_hdf5(address);
  return open_in_zip(address);
}

}  // namespace kasen
