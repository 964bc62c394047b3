// Dense arrays that stay in a file of the user's, and the way of their elements to those who compute with them: the
// file's own pages, or memory into which several threads read them. They take the elements' digest meanwhile.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libcomm/data/base/new_file.h"
#include "libcore/data/data.h"
#include "libcore/system/mapped_file.h"

namespace kasen {

// Behind the head, the file has the scalars of one element after the other, little-endian, and nothing else.
struct StoredTable {
  std::string path;        // absolute
  std::int64_t bytes = 0;  // of the whole file
  std::int64_t head = 0;   // of what stands in front: the header, which states the array's form
};

// The bytes of `count` elements in such a file; checked.
[[nodiscard]] std::int64_t stored_bytes(const ElementType& element, std::int64_t count);

class StoredFile {
 public:
  // Opens the file, once for all parts. UserError: missing_input, io; bad_input: no regular file, or of another size.
  explicit StoredFile(const StoredTable& table);

  // XXH3-128 of the head.
  [[nodiscard]] std::string head_digest() const;
  // BlockDigest.
  [[nodiscard]] std::string digest(std::int64_t offset, std::int64_t bytes) const;

  struct Loaded {
    Array elements;
    std::string digest;                        // BlockDigest of exactly these bytes
    std::shared_ptr<const MappedFile> memory;  // where they are the file's own pages; null: they are copies
  };
  // Elements from byte `offset` on, in memory of their own. UserError: bad_input (the file ends too early), io, limit.
  [[nodiscard]] Loaded load(const ElementType& element, std::int64_t count, std::int64_t offset) const;
  // The same in the file's own pages, where elements lie there as in memory (one plane, aligned to 64 bytes) and are
  // many; copies otherwise. The caller looks at MappedTables::check once nobody reads them any more.
  [[nodiscard]] Loaded map(const ElementType& element, std::int64_t count, std::int64_t offset) const;

  [[nodiscard]] const std::string& path() const { return file_.path(); }
  // Whether the system still states the size and the time of the content that it stated when the file was opened.
  [[nodiscard]] bool is_as_it_was() const;

 private:
  [[nodiscard]] std::optional<Loaded> mapped(const ElementType& element, std::int64_t count, std::int64_t offset) const;
  FileHandle file_;
  std::int64_t head_;
  FileTimes opened_;
};

// Tables in their files' own pages, which others may write while they are read. That does no harm that is not seen:
// a file that becomes shorter ends the process with a message (tools/system/last_words.h), and check() finds the rest.
class MappedTables {
 public:
  void add(std::shared_ptr<const StoredFile> file, const StoredFile::Loaded& loaded, std::int64_t bytes);
  // UserError(bad_input): a file was written since its elements' digest was taken, so that nothing computed with them
  // may be used.
  void check() const;

 private:
  struct Table {
    std::shared_ptr<const StoredFile> file;
    std::shared_ptr<const MappedFile> memory;
    std::int64_t bytes = 0;
    std::string digest;
  };
  std::vector<Table> tables_;
};

}  // namespace kasen
