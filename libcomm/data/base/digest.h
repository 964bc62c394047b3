// XXH3-128 digests, as 32 hexadecimal digits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace kasen {

[[nodiscard]] std::string digest_of(std::string_view bytes);
inline constexpr std::size_t digest_digits = 32;
[[nodiscard]] bool is_digest(std::string_view text);  // 32 digits, of 0 to 9 and a to f

// The digest of bytes that arrive in pieces.
class RunningDigest {
 public:
  RunningDigest();
  ~RunningDigest();
  RunningDigest(const RunningDigest&) = delete;
  RunningDigest& operator=(const RunningDigest&) = delete;
  void update(const void* data, std::int64_t bytes);
  [[nodiscard]] std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The digests of a file's blocks, which several threads read.
class BlockDigests {
 public:
  explicit BlockDigests(std::int64_t blocks) : text_(static_cast<std::size_t>(blocks) * digest_digits, '0') {}
  void set(std::int64_t k, const void* data, std::int64_t bytes);  // each block once; any thread
  // The blocks' digests, one behind the other; the digest of this text.
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::string hex() const { return digest_of(text_); }

 private:
  std::string text_;
};

// The digest of bytes that several threads read: that of the digests of all blocks of 1 MiB.
class BlockDigest {
 public:
  static constexpr std::int64_t block = std::int64_t{1} << 20;
  explicit BlockDigest(std::int64_t bytes) : bytes_(bytes), digests_((bytes + block - 1) / block) {}
  [[nodiscard]] std::int64_t blocks() const { return (bytes_ + block - 1) / block; }
  [[nodiscard]] std::int64_t bytes_of(std::int64_t k) const { return std::min(block, bytes_ - k * block); }
  void set(std::int64_t k, const void* data) { digests_.set(k, data, bytes_of(k)); }  // each block once; any thread
  [[nodiscard]] std::string hex() const { return digests_.hex(); }

 private:
  std::int64_t bytes_;
  BlockDigests digests_;
};

struct FileDigest {
  std::string hex;
  std::int64_t bytes = 0;
};
// UserError: missing_input, io.
[[nodiscard]] FileDigest digest_of_file(const std::string& path);
class FileHandle;
[[nodiscard]] FileDigest digest_of_file(const FileHandle& file);
// UserError: bad_input (the file ends too early), io.
[[nodiscard]] std::string digest_of_range(const FileHandle& file, std::int64_t first, std::int64_t bytes);

}  // namespace kasen
