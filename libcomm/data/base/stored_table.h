// Dense arrays that stay in a file of the user's, and the way of their elements into memory: several threads read them
// into their place, and take their digest meanwhile.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "libcomm/data/base/new_file.h"
#include "libcore/data/data.h"

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
    std::string digest;  // BlockDigest of exactly these bytes
  };
  // Elements from byte `offset` on. UserError: bad_input (the file ends too early), io, limit.
  [[nodiscard]] Loaded load(const ElementType& element, std::int64_t count, std::int64_t offset) const;

 private:
  FileHandle file_;
  std::int64_t head_;
};

}  // namespace kasen
