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

// The digest of bytes that several threads read: XXH3-128 of the digests of all blocks of 1 MiB, as text, in their
// order.
class BlockDigest {
 public:
  static constexpr std::int64_t block = std::int64_t{1} << 20;
  explicit BlockDigest(std::int64_t bytes);
  [[nodiscard]] std::int64_t blocks() const { return static_cast<std::int64_t>(of_blocks_.size() / digest_digits); }
  [[nodiscard]] std::int64_t bytes_of(std::int64_t k) const { return std::min(block, bytes_ - k * block); }
  void set(std::int64_t k, const void* data);  // each block once; any thread
  [[nodiscard]] std::string hex() const;

 private:
  std::int64_t bytes_;
  std::string of_blocks_;
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
