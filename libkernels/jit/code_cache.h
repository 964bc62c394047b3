// Compiled kernels on disk, found again by the next process.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace llvm {
class MemoryBuffer;
}

namespace kasen {

// Code from here is executed, so it comes only from files that nobody but the user can have written. The folder and
// each file are the user's own, closed to others and no links, as their descriptors show. A file holds the digest of
// its key and of its content. All other files are ignored, and code that cannot be kept is not kept. The cache only
// saves time, so it has no errors.
class CodeCache {
 public:
  // Makes the folder if there is none. Empty: nothing is kept or found.
  explicit CodeCache(const std::string& folder);
  CodeCache(const CodeCache&) = delete;
  CodeCache& operator=(const CodeCache&) = delete;
  ~CodeCache();

  [[nodiscard]] bool open() const { return folder_descriptor_ >= 0; }
  // `key`: the digest of all that the code depends on (code_digest). Null: not there.
  [[nodiscard]] std::unique_ptr<llvm::MemoryBuffer> find(const std::string& key) const;
  void keep(const std::string& key, std::string_view code) const;
  // Removes the least recently used files, if all take more than 256 MiB; looks once in twenty minutes.
  void prune() const;

 private:
  int folder_descriptor_ = -1;
};

// BLAKE3, 64 hexadecimal digits.
[[nodiscard]] std::string code_digest(std::string_view bytes);

}  // namespace kasen
