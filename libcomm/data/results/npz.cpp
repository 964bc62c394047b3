// Sparse matrices as SciPy keeps them (scipy.sparse.load_npz), one file for each output: a zip archive of the arrays
// row, col, data, shape and format, which are stored as they are. Other outputs are refused. All lengths take 64 bits.
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libcomm/data/read/npy_header.h"
#include "libcomm/data/results/files.h"
#include "libcomm/data/results/npy_type.h"
#include "libcore/base/error.h"

namespace kasen {
namespace {

constexpr std::uint64_t long_length = 0xffffffff;  // in place of a length: it stands behind

void put_bytes(std::string& to, std::uint64_t number, int bytes) {
  for (int b = 0; b < bytes; ++b) to += static_cast<char>(number >> (8 * b) & 0xff);
}

// A member of the archive: its name, and the bytes from `begin` on.
struct NpzMember {
  std::string name;
  std::int64_t header = 0, begin = 0, bytes = 0;
};

constexpr std::int64_t crc_in_header = 14;  // its place

// What the headers of a member have in common, up to the length of what stands behind its name.
void put_facts(std::string& to, const NpzMember& member, std::uint32_t crc, int extra) {
  put_bytes(to, 45, 2);  // the version that has lengths of 64 bits
  put_bytes(to, 0, 2);
  put_bytes(to, 0, 2);  // stored
  put_bytes(to, 0, 2);
  put_bytes(to, 0x21, 2);  // the first day that there is
  put_bytes(to, crc, 4);
  put_bytes(to, long_length, 4);
  put_bytes(to, long_length, 4);
  put_bytes(to, member.name.size(), 2);
  put_bytes(to, static_cast<std::uint64_t>(extra), 2);
}

std::string local_header(const NpzMember& member) {
  std::string text;
  put_bytes(text, 0x04034b50, 4);
  put_facts(text, member, 0, 20);
  text += member.name;
  put_bytes(text, 1, 2);
  put_bytes(text, 16, 2);
  for (int i = 0; i < 2; ++i) put_bytes(text, static_cast<std::uint64_t>(member.bytes), 8);
  return text;
}

std::string directory_entry(const NpzMember& member, std::uint32_t crc) {
  std::string text;
  put_bytes(text, 0x02014b50, 4);
  put_bytes(text, 45, 2);
  put_facts(text, member, crc, 28);
  put_bytes(text, 0, 2);
  put_bytes(text, 0, 2);
  put_bytes(text, 0, 2);
  put_bytes(text, 0, 4);
  put_bytes(text, long_length, 4);
  text += member.name;
  put_bytes(text, 1, 2);
  put_bytes(text, 24, 2);
  for (int i = 0; i < 2; ++i) put_bytes(text, static_cast<std::uint64_t>(member.bytes), 8);
  put_bytes(text, static_cast<std::uint64_t>(member.header), 8);
  return text;
}

// Behind a directory of so many bytes from `begin` on.
std::string archive_end(std::size_t members, std::int64_t begin, std::size_t bytes) {
  std::string text;
  put_bytes(text, 0x06064b50, 4);
  put_bytes(text, 44, 8);
  put_bytes(text, 45, 2);
  put_bytes(text, 45, 2);
  put_bytes(text, 0, 4);
  put_bytes(text, 0, 4);
  put_bytes(text, members, 8);
  put_bytes(text, members, 8);
  put_bytes(text, bytes, 8);
  put_bytes(text, static_cast<std::uint64_t>(begin), 8);
  put_bytes(text, 0x07064b50, 4);
  put_bytes(text, 0, 4);
  put_bytes(text, static_cast<std::uint64_t>(begin) + bytes, 8);
  put_bytes(text, 1, 4);
  put_bytes(text, 0x06054b50, 4);
  put_bytes(text, 0, 2);
  put_bytes(text, 0, 2);
  put_bytes(text, members, 2);
  put_bytes(text, members, 2);
  put_bytes(text, std::min<std::uint64_t>(bytes, long_length), 4);
  put_bytes(text, long_length, 4);
  put_bytes(text, 0, 2);
  return text;
}

class NpzArchive {
 public:
  explicit NpzArchive(const std::string& name)
      : name_(name), file_(name), out_(FileHandle::create(file_.temporary())) {}

  // Adds an array whose elements are written later, at this place of the file.
  std::int64_t add(const std::string& name, const std::string& head, std::int64_t bytes) {
    NpzMember& member = members_.emplace_back(NpzMember{name + ".npy", end_, 0, std::ssize(head) + bytes});
    const std::string header = local_header(member);
    write(header);
    member.begin = end_;
    write(head);
    end_ += bytes;
    return end_ - bytes;
  }

  void add(const std::string& name, const std::string& head, std::string_view elements) {
    const std::int64_t at = add(name, head, std::ssize(elements));
    out_.write(at, elements.data(), std::ssize(elements));
  }

  void lay_out() {
    // So that ranks write inside of the file.
    const char zero = 0;
    if (end_ > 0) out_.write(end_, &zero, 1);
    out_.close(Sync::no);
  }

  // The elements are there: their checksums and the directory follow.
  void commit() {
    const FileHandle in = FileHandle::open_to_read(file_.temporary());
    FileHandle out = FileHandle::open_to_write(file_.temporary());
    std::string directory;
    for (const NpzMember& member : members_) {
      const std::uint32_t crc = checksum(in, member);
      std::string bytes;
      put_bytes(bytes, crc, 4);
      out.write(member.header + crc_in_header, bytes.data(), std::ssize(bytes));
      directory += directory_entry(member, crc);
    }
    const std::string all = directory + archive_end(members_.size(), end_, directory.size());
    out.write(end_, all.data(), std::ssize(all));
    out.close(Sync::yes);
    file_.commit();
  }

  [[nodiscard]] const std::string& temporary() const { return file_.temporary(); }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  void write(const std::string& bytes) {
    out_.write(end_, bytes.data(), std::ssize(bytes));
    end_ += std::ssize(bytes);
  }

  static std::uint32_t checksum(const FileHandle& in, const NpzMember& member) {
    std::vector<std::byte> block(std::size_t{1} << 20);
    uLong crc = crc32(0, nullptr, 0);
    for (std::int64_t at = 0; at < member.bytes;) {
      const std::int64_t some = std::min<std::int64_t>(std::ssize(block), member.bytes - at);
      in.read(member.begin + at, block.data(), some);
      crc = crc32(crc, reinterpret_cast<const Bytef*>(block.data()), static_cast<uInt>(some));
      at += some;
    }
    return static_cast<std::uint32_t>(crc);
  }

  std::string name_;
  NewFile file_;
  FileHandle out_;
  std::vector<NpzMember> members_;
  std::int64_t end_ = 0;
};

class NpzResults : public ResultFiles {
 public:
  NpzResults(const std::string& path, const std::vector<ResultTable>& tables) {
    for (std::size_t k = 0; k < tables.size(); ++k)
      add(k == 0 ? path : path_of_output(path, tables[k].name), tables[k]);
  }
  [[nodiscard]] const ResultPlaces& places() const override { return places_; }
  std::vector<std::string> commit() override {
    std::vector<std::string> names;
    for (const auto& archive : archives_) {
      archive->commit();
      names.push_back(archive->name());
    }
    return names;
  }

 private:
  void add(const std::string& name, const ResultTable& table) {
    if (!table.is_sparse()) {
      fail(ExitStatus::bad_input, fmt::format("output '{}' is no sparse matrix", table.name),
           "an npz file of a result holds one", "write the result in another format: --format hdf5");
    }
    NpzArchive& archive = *archives_.emplace_back(std::make_unique<NpzArchive>(name));
    std::vector<ResultPlace>& places = places_.emplace_back();
    constexpr std::array<const char*, 3> members{"row", "col", "data"};
    for (std::size_t c = 0; c < members.size(); ++c) {
      const ResultColumn& column = table.columns[c];
      const std::string head = npy_header(npy_type(column.scalar), column.extents(table.dims));
      const std::int64_t at = archive.add(members.at(c), head, table.elements() * column.bytes());
      places.push_back({archive.temporary(), at});
    }
    std::string shape;
    for (const ResultDim& dim : table.matrix) put_bytes(shape, static_cast<std::uint64_t>(dim.size), 8);
    archive.add("shape", npy_header("<i8", {2}), shape);
    archive.add("format", npy_header("|S3", {}), "coo");
    archive.lay_out();
  }

  std::vector<std::unique_ptr<NpzArchive>> archives_;
  ResultPlaces places_;
};

}  // namespace

std::unique_ptr<ResultFiles> make_npz_results(const std::string& path, const std::vector<ResultTable>& tables) {
  return std::make_unique<NpzResults>(path, tables);
}

}  // namespace kasen
