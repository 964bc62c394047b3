// Dense arrays that stay in a file, and the way of their elements to those who compute with them: the file's own pages,
// or memory into which several threads read them. They take the digests of the file's blocks meanwhile.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libcomm/data/base/new_file.h"
#include "libcore/data/data.h"
#include "libcore/system/mapped_file.h"

namespace kasen {

// A file of the user's. Behind the head, it has the scalars of one element after the other, little-endian, and nothing
// else.
struct StoredTable {
  std::string path;        // absolute
  std::int64_t bytes = 0;  // of the whole file
  std::int64_t head = 0;   // of what stands in front: the header, which states the array's form
};

// The bytes of `count` elements in such a file; checked.
[[nodiscard]] std::int64_t stored_bytes(const ElementType& element, std::int64_t count);

// Bytes begin .. end - 1 of a file, in blocks whose digests are known one by one. The last one may be shorter.
struct BlockGrid {
  static constexpr std::int64_t usual_block = std::int64_t{4} << 20;
  std::int64_t begin = 0, end = 0, block = usual_block;
  [[nodiscard]] std::int64_t count() const { return (end - begin + block - 1) / block; }
  [[nodiscard]] std::int64_t begin_of(std::int64_t k) const { return begin + k * block; }
  [[nodiscard]] std::int64_t bytes_of(std::int64_t k) const { return std::min(block, end - begin_of(k)); }
};

// Elements of an array and where they lie in a file.
struct StoredElements {
  ElementType element;
  std::int64_t count = 0;
  // The first byte of each plane. One for an element of several planes: its scalars are side by side.
  std::vector<std::int64_t> planes;
};

// Blocks of a grid that were read, ascending, and their digests, one behind the other.
struct BlocksRead {
  std::vector<std::int64_t> blocks;
  std::string digests;
};

class StoredFile {
 public:
  // The file is open once for all parts.
  explicit StoredFile(FileHandle file) : file_(std::move(file)), opened_(file_.times()) {}
  // UserError: missing_input, io; bad_input: no regular file, or of another size.
  explicit StoredFile(const StoredTable& table);

  [[nodiscard]] std::string digest_of_head(std::int64_t bytes) const;        // XXH3-128
  [[nodiscard]] std::string digests_of_blocks(const BlockGrid& grid) const;  // of all, one behind the other

  struct Loaded {
    std::vector<Array> elements;               // of each that is wanted
    BlocksRead read;                           // all blocks that have a byte of one of them
    std::shared_ptr<const MappedFile> memory;  // where they are the file's own pages; null: they are copies
  };
  // Brings elements into memory of their own. Each block of the grid, which has all of them, is read at most once.
  // UserError: bad_input (the file ends too early), io, limit.
  [[nodiscard]] Loaded load(std::span<const StoredElements> wanted, const BlockGrid& grid) const;
  // The file's own pages, where elements lie there as in memory (one plane, aligned to 64 bytes) and are many; else
  // nothing. The caller looks at MappedTables::check once nobody reads them any more.
  [[nodiscard]] std::optional<Loaded> map(const StoredElements& wanted, const BlockGrid& grid) const;

  [[nodiscard]] const FileHandle& handle() const { return file_; }
  [[nodiscard]] const std::string& path() const { return file_.path(); }
  [[nodiscard]] std::int64_t bytes() const { return opened_.bytes; }  // when it was opened
  // Whether the system still states the size and the time of the content that it stated when the file was opened.
  [[nodiscard]] bool is_as_it_was() const;

 private:
  FileHandle file_;
  FileTimes opened_;
};

// Tables in their files' own pages, which others may write while they are read. That does no harm that is not seen:
// a file that becomes shorter ends the process with a message (tools/system/last_words.h), and check() finds the rest.
class MappedTables {
 public:
  void add(std::shared_ptr<const StoredFile> file, const StoredFile::Loaded& loaded, const BlockGrid& grid);
  // UserError(bad_input): a file was written since its elements' digest was taken, so that nothing computed with them
  // may be used.
  void check() const;

 private:
  struct Table {
    std::shared_ptr<const StoredFile> file;
    std::shared_ptr<const MappedFile> memory;
    BlocksRead read;
    BlockGrid grid;
  };
  std::vector<Table> tables_;
};

}  // namespace kasen
