// A range of a file in the address space: the pages of the system's cache themselves, so that nothing is copied and
// several processes share them. They are for reading alone: a write to them is a crash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace kasen {

class MappedFile {
 public:
  // Bytes from `offset` on, which need not begin a page; the last page may reach beyond the file's end. If the system
  // refuses, data() is null and errno says why.
  MappedFile(int file, std::int64_t offset, std::int64_t bytes, const std::string& name);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] const std::byte* data() const { return data_; }
  // Brings these bytes into memory at once, many pages by one call. False: some of them cannot be read (the file has
  // become shorter, or the disk fails); to touch them would raise SIGBUS.
  [[nodiscard]] bool bring_in(std::int64_t begin, std::int64_t bytes) const;

 private:
  struct Place;
  friend const char* name_of_mapped_file(const void* address);
  static Place* take_place();
  const std::byte* data_ = nullptr;
  std::byte* first_page_ = nullptr;
  std::size_t length_ = 0;
  Place* place_ = nullptr;
};

// The name of the file that has this address; null: no MappedFile has it. Handlers of SIGBUS may call it.
[[nodiscard]] const char* name_of_mapped_file(const void* address);

}  // namespace kasen
