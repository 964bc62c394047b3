// Zip archives, as NumPy and SciPy write them: the members' names and sizes, and their content as streams. Members are
// stored or deflated. Nothing that an archive announces is trusted: every place and size is checked against the file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "libcomm/data/base/byte_source.h"
#include "libcomm/data/base/new_file.h"

namespace kasen {

struct ZipMember {
  std::string name;
  std::int64_t header = 0, packed = 0, size = 0;  // where its header begins; bytes in the archive, and of its content
  std::uint32_t checksum = 0;
  int method = 0;
  bool encrypted = false;
};

class ZipArchive {
 public:
  explicit ZipArchive(const std::string& path);  // UserError: bad_input (damaged), limit, missing_input, io

  [[nodiscard]] const std::vector<ZipMember>& members() const { return members_; }
  [[nodiscard]] const ZipMember* find(std::string_view name) const;  // null: none has the name
  // The content, which must have the size and the checksum that the archive states: else bad_input.
  [[nodiscard]] std::unique_ptr<ByteSource> open(const ZipMember& member) const;

 private:
  [[noreturn]] void fail_damaged(const std::string& why) const;
  void read_directory(std::int64_t begin, std::int64_t bytes, std::int64_t count);

  std::shared_ptr<const FileHandle> file_;
  std::int64_t end_ = 0;  // of the members: the directory's beginning
  std::vector<ZipMember> members_;
};

}  // namespace kasen
