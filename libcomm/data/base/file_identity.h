// What a data file is: its content, told by a digest, and what the system says of it, by which the content need not be
// read again while nobody has written the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kasen {

struct FileIdentity {
  std::string digest;  // XXH3-128 of the file's own bytes, compressed ones too; empty: a pipe or device, never the same
  std::int64_t bytes = 0;
  std::int64_t modified_ns = 0, changed_ns = 0;  // times of the content and of the inode, which no program can set
  std::uint64_t inode = 0, device = 0;
  // The inode's time was some seconds old when the digest was taken. Clocks of file systems tick, so that a write
  // within the same tick would leave every number above as it is.
  bool settled = false;
};

// The same content, whatever the names, times and places.
[[nodiscard]] bool same_content(const FileIdentity& a, const FileIdentity& b);
// The file at `path` is the one that `known` tells of, and nobody has written it since; a look at the inode, not at the
// content. False where that is not certain, and where there is no file.
[[nodiscard]] bool is_untouched(const std::string& path, const FileIdentity& known);
// Reads the whole file, or nothing of it where `known` tells of it and it is untouched. UserError: missing_input, io.
[[nodiscard]] FileIdentity identify(const std::string& path, const FileIdentity* known = nullptr);

// One line without its end, for records; nothing where the text is none.
[[nodiscard]] std::string identity_text(const FileIdentity& identity);
[[nodiscard]] std::optional<FileIdentity> parse_identity(std::string_view text);

}  // namespace kasen
