// A text in blocks of whole lines, in the order of the file, for threads that take one each. It is a plain file or
// pipe, gzip, xz or zstd (by the first bytes, not by the name), or an array of a
// file that holds several (content.h). Holds a block or two at a time; a byte order mark is
// left out.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "libcomm/data/base/byte_source.h"
#include "libcomm/data/base/digest.h"

namespace kasen {

// So many bytes behind the last line end of a text can be read: numbers are read eight bytes at a time.
inline constexpr std::int64_t text_padding = 8;

struct TextBlock {
  std::vector<char> room;  // reused from block to block, so that it is not cleared and paged in again
  std::int64_t bytes = 0;  // of it that are text; the last is '\n', so that scanning needs no other bound
  std::int64_t number = 0;
  std::int64_t first_line = 0;  // lines before it
  std::int64_t lines = 0;

  [[nodiscard]] const char* begin() const { return room.data(); }
  [[nodiscard]] const char* end() const { return room.data() + bytes; }
  [[nodiscard]] std::string_view view() const { return {room.data(), static_cast<std::size_t>(bytes)}; }
};

[[nodiscard]] std::int64_t count_lines(std::string_view text);  // line ends

// Longer lines are refused: a text without line ends would be held whole, and may never end (/dev/zero).
inline constexpr std::int64_t longest_line = std::int64_t{1} << 26;
// UserError(bad_input); `line` counts from 1.
[[noreturn]] void fail_long_line(const std::string& path, std::int64_t line);

// A text in one piece of memory.
struct HeldText {
  std::shared_ptr<const char> bytes;
  std::int64_t size = 0;
};

class TextSource {
 public:
  // UserError: missing_input, io, bad_input (empty, UTF-16, damaged), limit.
  explicit TextSource(const std::string& path);
  ~TextSource();
  TextSource(const TextSource&) = delete;
  TextSource& operator=(const TextSource&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool plain_file() const { return plain_file_; }    // regular, not compressed: can be mapped
  [[nodiscard]] std::int64_t file_bytes() const { return size_; }  // 0 of a pipe
  [[nodiscard]] bool compressed() const { return compressed_; }
  [[nodiscard]] bool can_be_read_again() const { return regular_; }
  [[nodiscard]] const std::vector<std::int64_t>& row_ids() const { return row_ids_; }  // OpenedArray::row_ids
  [[nodiscard]] std::int64_t mark_bytes() const { return mark_bytes_; }                // of the byte order mark
  // The beginning of the content, at least `bytes` of it if it has as many; blocks begin with it all the same.
  [[nodiscard]] std::string_view peek(std::int64_t bytes);
  // The next bytes as they are; fewer than asked for only at the end. Not after next().
  [[nodiscard]] std::int64_t take(char* to, std::int64_t bytes);
  // The next block, of about `block_bytes`, or of one line if that is longer; false at the end. Any thread may call it.
  // Content that does not end its last line is given as if it did.
  [[nodiscard]] bool next(TextBlock& block);
  [[nodiscard]] double fraction() const;  // of the file that was read
  // After the last block: lines, and the XXH3-128 digest of the content as xxhsum -H2 prints it.
  [[nodiscard]] std::int64_t lines() const { return lines_; }
  [[nodiscard]] std::string digest() const { return digest_.hex(); }
  // All that is left, unchanged, or the next `most` bytes of it. Not after next(). UserError(limit) while it grows; for
  // text, also bad_input for a line that is too long.
  enum class Content : std::uint8_t { text, bytes };
  [[nodiscard]] HeldText rest(Content content, std::int64_t most = std::numeric_limits<std::int64_t>::max());

  static constexpr std::int64_t block_bytes = std::int64_t{1} << 20;

 private:
  // Reads on, and adds to the digest; 0 at the end.
  std::int64_t read_more(char* to, std::int64_t bytes);
  bool append_more(std::vector<char>& text, std::int64_t bytes);
  void skip_mark();

  std::string path_;
  std::unique_ptr<ByteSource> bytes_;
  RunningDigest digest_;
  std::vector<std::int64_t> row_ids_;
  std::vector<char> ahead_;  // read, and not handed out yet
  std::int64_t size_ = 0, mark_bytes_ = 0, blocks_ = 0, lines_ = 0;
  bool plain_file_ = false, compressed_ = false, regular_ = false, ended_ = false;
  struct Progress;
  std::unique_ptr<Progress> progress_;
  std::mutex mutex_;
};

}  // namespace kasen
