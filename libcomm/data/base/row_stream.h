// Rows of a dense table that are made from its file when they are wanted, some at a time: the table is nowhere in
// memory as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace kasen {

class RowStream {
 public:
  struct Block {
    std::int64_t first = 0, rows = 0;
    std::vector<const std::byte*> planes;  // one: rows side by side; else one for each column
  };
  RowStream() = default;
  virtual ~RowStream() = default;
  RowStream(const RowStream&) = delete;
  RowStream& operator=(const RowStream&) = delete;

  [[nodiscard]] virtual std::int64_t width() const = 0;  // numbers of a row in the file
  // Calls take(block) for blocks that have each row once, from several threads and in any order. An error in the file
  // is reported as the reader of its format would; some blocks were taken then.
  virtual void for_each(const std::function<void(const Block&)>& take) const = 0;
};

}  // namespace kasen
