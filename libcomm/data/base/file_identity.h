// The identity of a data file: a digest of its content, and the system's facts about the file. While these facts are
// unchanged, nobody has written the file, and its content need not be read again.
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
  // The inode's time was some seconds old when the digest was taken. A file system's clock ticks, so a write within the
  // same tick would leave every number above unchanged.
  bool settled = false;
};

// The same content, whatever the names, times and folders.
[[nodiscard]] bool same_content(const FileIdentity& a, const FileIdentity& b);
// Whether the file at `path` is the one that `known` describes, and nobody has written it since. Looks at the inode,
// not at the content. False if that is not certain or there is no file.
[[nodiscard]] bool is_untouched(const std::string& path, const FileIdentity& known);
// What the system states of the file, without its digest: it is not read. UserError as identify.
[[nodiscard]] FileIdentity look_at(const std::string& path);
// Whether the system states the same of both.
[[nodiscard]] bool same_facts(const FileIdentity& a, const FileIdentity& b);
// Reads the whole file, or nothing of it if `known` describes it and it is untouched. UserError: missing_input, io.
[[nodiscard]] FileIdentity identify(const std::string& path, const FileIdentity* known = nullptr);

// One line without a line end, for records; parse_identity returns nothing for any other text.
[[nodiscard]] std::string identity_text(const FileIdentity& identity);
[[nodiscard]] std::optional<FileIdentity> parse_identity(std::string_view text);

}  // namespace kasen
