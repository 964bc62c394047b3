// An input file's content in memory, whatever holds it: plain files are mapped, gzip and xz (told by their first bytes,
// not by the name) are decompressed. A file that is cut short by others while it is mapped ends the process (SIGBUS),
// as for every program that maps files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace kasen {

class InputFile {
 public:
  // UserError: missing_input (not there, a folder, not readable), bad_input (damaged gzip or xz), limit, io.
  explicit InputFile(const std::string& path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] std::string digest() const;  // XXH3-128 of text(), 32 hexadecimal digits

  // Throws UserError(bad_input) that shows the line, and a caret at the byte `offset` of text().
  [[noreturn]] void fail_at(std::int64_t offset, const std::string& what, std::string why = {},
                            std::string remedy = {}) const;

 private:
  std::string path_;
  std::shared_ptr<const void> owner_;  // the mapping or the heap block
  std::string_view text_;
};

// At most `bytes` from the beginning of the content, decompressed.
[[nodiscard]] std::string read_prefix(const std::string& path, std::int64_t bytes);

// Refuses, before it is allocated, what this machine's memory cannot hold: UserError(limit).
void check_memory(std::int64_t bytes, const std::string& what, const std::string& path);

}  // namespace kasen
