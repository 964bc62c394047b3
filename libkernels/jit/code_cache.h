// Compiled kernels on disk, found again by the next process.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kasen {

// Where a compiler finds code that was compiled before, and keeps more.
class CodeStore {
 public:
  virtual ~CodeStore() = default;
  [[nodiscard]] virtual bool open() const = 0;  // else nothing is found or kept
  // `key`: the digest of all that the code depends on (code_digest.h). Nothing: it is not there.
  [[nodiscard]] virtual std::optional<std::string> find(const std::string& key) const = 0;
  virtual void keep(const std::string& key, std::string_view code) const = 0;
};

// A function of generated code as the plan calls it, and as its object does.
struct NamedFunction {
  std::string name, symbol;
};

// A piece of a plan's code: an ELF file (code_image.h), and its key in the store; "": it is not kept. A function of it
// has several names if several parts of the plan have the same code.
struct CompiledObject {
  std::string key, code;
  std::vector<NamedFunction> functions;
};

// Code from here is executed, so it comes only from files that nobody but the user can have written. The folder and
// each file are the user's own, closed to others and no links, as their descriptors show. A file holds the digest of
// its key and of its content. All other files are ignored, and code that cannot be kept is not kept. The cache only
// saves time, so it has no errors.
class CodeCache : public CodeStore {
 public:
  // Makes the folder if there is none. Empty: nothing is kept or found.
  explicit CodeCache(const std::string& folder);
  CodeCache(const CodeCache&) = delete;
  CodeCache& operator=(const CodeCache&) = delete;
  ~CodeCache() override;

  [[nodiscard]] bool open() const override { return folder_descriptor_ >= 0; }
  [[nodiscard]] std::optional<std::string> find(const std::string& key) const override;
  void keep(const std::string& key, std::string_view code) const override;
  // Removes the least recently used files, if all take more than 256 MiB; looks once in twenty minutes.
  void prune() const;

 private:
  int folder_descriptor_ = -1;
};

}  // namespace kasen
