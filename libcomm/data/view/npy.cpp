// NumPy's files: an output for each .npy file, and a sparse matrix as SciPy keeps it uncompressed (.npz).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "libcomm/data/read/npy_header.h"
#include "libcomm/data/view/binary.h"
#include "libcore/base/error.h"

namespace kasen {
namespace {

constexpr std::int64_t most_header = 1 << 14;

std::string bytes_of(const FileHandle& file, std::int64_t begin, std::int64_t bytes) {
  std::string text(static_cast<std::size_t>(bytes), '\0');
  file.read(begin, reinterpret_cast<std::byte*>(text.data()), bytes);
  return text;
}

FileType type_of(const NpyHeader& header, const std::string& what) {
  constexpr std::array<std::string_view, 6> names{"f8", "f4", "i8", "i4", "b1", "u1"};
  constexpr std::array<FileType, 6> types{FileType::f64, FileType::f32, FileType::i64,
                                          FileType::i32, FileType::u8,  FileType::u8};
  const auto at = std::find(names.begin(), names.end(), header.type);
  if (at == names.end() || header.swapped || header.fortran)
    fail_view(what, fmt::format("Kasen writes no elements of type '{}'{}", header.descr,
                                header.fortran ? " in Fortran's order" : ""));
  return types.at(static_cast<std::size_t>(at - names.begin()));
}

class NpyView : public BinaryView {
 public:
  NpyView(const std::string& path, const std::string& first) {
    for (const ResultFile& file : files_of_result(path)) {
      NpyColumn found;
      try {
        const auto open = std::make_shared<const FileHandle>(FileHandle::open_to_read(file.path));
        found = npy_column(open, 0, open->size(), file.path);
      } catch (const UserError&) {
        if (file.name.empty()) throw;
        continue;  // a file of others beside it
      }
      if (file.name.ends_with("_ids") && found.shape.size() == 1 && found.column.type == FileType::i64)
        ids_.push_back({file.name.substr(0, file.name.size() - 4), std::move(found.column)});
      else
        add_output(name_of(file, first), std::move(found));
    }
    for (BinaryArray& array : outputs_) {
      for (std::size_t d = 0; d < array.shown.shape.size(); ++d) add_ids(array, d);
      add(std::move(array));
    }
  }

 private:
  void add_output(const std::string& name, NpyColumn found) {
    BinaryArray array;
    array.shown = {.name = name, .dims = {}, .shape = found.shape, .columns = {name}};
    array.shown.dims.resize(found.shape.size());
    array.columns.push_back(std::move(found.column));
    outputs_.push_back(std::move(array));
  }

  // The files do not name the dimensions: ids are those of the only dimension that has as many.
  void add_ids(BinaryArray& array, std::size_t d) const {
    const std::int64_t size = array.shown.shape[d];
    array.ids.emplace_back();
    const auto fits = [&](const Ids& ids) { return ids.column.elements == size; };
    if (std::count_if(ids_.begin(), ids_.end(), fits) != 1) return;
    const auto ids = std::find_if(ids_.begin(), ids_.end(), fits);
    array.ids.back() = ids->column;
    array.shown.dims[d] = ids->dim;
  }

  struct Ids {
    std::string dim;
    BinaryColumn column;
  };
  std::vector<Ids> ids_;
  std::vector<BinaryArray> outputs_;
};

std::uint64_t number_in(std::string_view bytes, std::size_t at, int count) {
  std::uint64_t number = 0;
  for (int b = count; b-- > 0;)
    number = number << 8 | static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(b)]);
  return number;
}

struct StoredMember {
  std::string name;
  std::int64_t begin = 0, bytes = 0;
};

// The members of an archive that are stored as they are, from their own heads: Kasen writes lengths there.
std::vector<StoredMember> members_of(const FileHandle& file, const std::string& path) {
  constexpr std::int64_t head_bytes = 30;
  constexpr std::uint64_t long_length = 0xffffffff, most_members = 1 << 16;
  std::vector<StoredMember> members;
  const std::int64_t end = file.size();
  for (std::int64_t at = 0; at + head_bytes <= end && members.size() < most_members;) {
    const std::string head = bytes_of(file, at, head_bytes);
    if (number_in(head, 0, 4) != 0x04034b50) break;
    if (number_in(head, 8, 2) != 0 || (number_in(head, 6, 2) & 9U) != 0)
      fail_view(path, "its members are compressed", "save it again without compression");
    const auto name_bytes = static_cast<std::int64_t>(number_in(head, 26, 2));
    const auto extra_bytes = static_cast<std::int64_t>(number_in(head, 28, 2));
    if (name_bytes + extra_bytes > end - at - head_bytes) fail_view(path, "it is cut off");
    const std::string extra = bytes_of(file, at + head_bytes + name_bytes, extra_bytes);
    std::uint64_t bytes = number_in(head, 18, 4);
    if (bytes == long_length && extra_bytes >= 20 && number_in(extra, 0, 2) == 1) bytes = number_in(extra, 12, 8);
    StoredMember member{bytes_of(file, at + head_bytes, name_bytes), at + head_bytes + name_bytes + extra_bytes, 0};
    if (bytes > static_cast<std::uint64_t>(end - member.begin)) fail_view(path, "it is cut off");
    member.bytes = static_cast<std::int64_t>(bytes);
    at = member.begin + member.bytes;
    members.push_back(std::move(member));
  }
  return members;
}

class NpzView : public BinaryView {
 public:
  NpzView(const std::string& path, const std::string& first) {
    for (const ResultFile& file : files_of_result(path)) add_matrix(file.path, name_of(file, first));
  }

 private:
  void add_matrix(const std::string& path, const std::string& name) {
    const auto file = std::make_shared<const FileHandle>(FileHandle::open_to_read(path));
    const std::vector<StoredMember> members = members_of(*file, path);
    const auto member = [&](const std::string& of) {
      const auto at =
          std::find_if(members.begin(), members.end(), [&](const StoredMember& m) { return m.name == of + ".npy"; });
      if (at == members.end()) fail_view(path, fmt::format("it has no '{}': it is no matrix of entries", of));
      return npy_column(file, at->begin, at->bytes, path);
    };
    BinaryArray array;
    array.shown = {.name = name, .dims = {"row", "column"}, .shape = {}, .sparse = true, .columns = {name}};
    for (const char* part : {"row", "col", "data"}) array.columns.push_back(member(part).column);
    const NpyColumn shape = member("shape");
    const std::int64_t entries = array.columns[0].elements;
    const auto has_entries = [&](const BinaryColumn& c) { return c.elements == entries; };
    if (!std::all_of(array.columns.begin(), array.columns.end(), has_entries) || shape.column.elements != 2 ||
        shape.column.type != FileType::i64)
      fail_view(path, "its members do not fit together");
    const std::string sizes = bytes_of(*file, shape.column.offset, 16);
    for (const std::size_t at : {0U, 8U})
      array.shown.shape.push_back(static_cast<std::int64_t>(number_in(sizes, at, 8)));
    add(std::move(array));
  }
};

}  // namespace

NpyColumn npy_column(const std::shared_ptr<const FileHandle>& file, std::int64_t begin, std::int64_t bytes,
                     const std::string& what) {
  const NpyHeader header = read_npy_header(bytes_of(*file, begin, std::min(bytes, most_header)), what);
  NpyColumn found{{file, begin + header.data, 1, 1, type_of(header, what)}, header.shape};
  const std::int64_t room = (bytes - header.data) / file_bytes(found.column.type);
  for (const std::int64_t size : header.shape) {
    if (__builtin_mul_overflow(found.column.elements, size, &found.column.elements)) fail_view(what, "it is too large");
  }
  if (header.data > bytes || found.column.elements > room || found.column.elements < 0)
    fail_view(what, "it is cut off");
  return found;
}

std::unique_ptr<ResultView> view_npy(const std::string& path, const std::string& first) {
  return std::make_unique<NpyView>(path, first);
}

std::unique_ptr<ResultView> view_npz(const std::string& path, const std::string& first) {
  return std::make_unique<NpzView>(path, first);
}

}  // namespace kasen
