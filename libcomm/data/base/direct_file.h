// Reading a file past the system's cache, so that what goes by does not push out what others use, and memory is what
// the reader asked for.
#pragma once

#include <cstdint>

#include "libcomm/data/base/new_file.h"
#include "libcore/system/memory.h"

namespace kasen {

// Memory that direct reads may go to.
class PageBuffer {
 public:
  explicit PageBuffer(std::int64_t bytes);  // UserError(limit)
  [[nodiscard]] std::byte* data() { return data_; }

 private:
  Bytes memory_;
  std::byte* data_;
};

class DirectFile {
 public:
  static constexpr std::int64_t page = 4096;
  // The file that is open there; its path is for messages.
  explicit DirectFile(const FileHandle& file);
  ~DirectFile();
  DirectFile(const DirectFile&) = delete;
  DirectFile& operator=(const DirectFile&) = delete;

  // Reads bytes [begin, end) with the rest of their pages to `to`, and returns where `begin` is there. UserError: io,
  // bad_input (the file ends too early).
  [[nodiscard]] std::byte* read(std::int64_t begin, std::int64_t end, PageBuffer& to) const;
  // The bytes of whole pages that such a read takes from the disk.
  [[nodiscard]] static std::int64_t bytes_of(std::int64_t begin, std::int64_t end) {
    return (end + page - 1) / page * page - begin / page * page;
  }

 private:
  [[nodiscard]] std::int64_t read_some(std::int64_t offset, std::byte* to, std::int64_t bytes) const;
  const FileHandle& file_;
  int direct_ = -1;  // -1: the file system has no direct reads, and pages are dropped behind
};

}  // namespace kasen
