// A stream of bytes: a file or pipe, or the unpacked content of a gzip, xz or zstd stream of any number of members.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace kasen {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Reads up to `bytes`; 0 only at the end. A UserError names the file: io; bad_input if a stream is cut off, damaged
  // or followed by other bytes; limit.
  [[nodiscard]] virtual std::int64_t read(char* to, std::int64_t bytes) = 0;
};

enum class Compression : std::uint8_t { none, gzip, xz, zstd };
[[nodiscard]] Compression compression_of(std::string_view beginning);

// The file or pipe itself. missing_input (not there, a folder, not readable).
struct OpenedFile {
  std::unique_ptr<ByteSource> bytes;
  std::int64_t size = 0;  // 0 if it has none
  bool regular = false;
};
[[nodiscard]] OpenedFile open_bytes(const std::string& path);
// The unpacked content of `packed`; with `none`, `packed` itself.
[[nodiscard]] std::unique_ptr<ByteSource> unpacked(std::unique_ptr<ByteSource> packed, Compression kind,
                                                   const std::string& path);

}  // namespace kasen
