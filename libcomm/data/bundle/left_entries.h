// Matrices whose nonzeros stay in the file of their part, so that they need not fit into memory. Private to the bundle.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "libcomm/data/base/stored_table.h"

namespace kasen {

class LeftEntries {
 public:
  // Takes the digests of the file's blocks, whose digest is `digest`; else UserError(bad_input).
  LeftEntries(FileHandle part, const std::string& digest, std::function<bool(const std::string&)> streamed);

  [[nodiscard]] const FileHandle& handle() const { return file_->handle(); }
  // Fewer bytes of nonzeros take less memory than what brings them by.
  static constexpr std::int64_t least_bytes = std::int64_t{8} << 20;
  // Whether a matrix's nonzeros stay: it is wanted, they are many, and any content of `values` will do.
  [[nodiscard]] bool stays(const std::string& name, const ElementType& element, std::int64_t count) const;
  [[nodiscard]] std::shared_ptr<const EntriesOnDisk> columns_at(std::int64_t offset, std::int64_t count) const;
  // The same nonzeros with values, whose planes begin there.
  [[nodiscard]] std::shared_ptr<const EntriesOnDisk> with_values(const EntriesOnDisk& columns,
                                                                 const ElementType& element, std::int64_t count,
                                                                 std::vector<std::int64_t> planes) const;

 private:
  [[nodiscard]] std::shared_ptr<DiskElements> elements(StoredElements at) const;

  std::shared_ptr<const StoredFile> file_;
  BlockGrid grid_;
  std::vector<std::string> digests_;
  std::function<bool(const std::string&)> streamed_;
};

// Reads the columns of a matrix that stays once, `count` of them: they ascend in each row, and are below `cols`. Counts
// them. `name` and `file` are for messages. UserError(bad_input).
void count_left(PartMatrix& matrix, std::int64_t count, std::int64_t cols, const std::string& name,
                const std::string& file);

}  // namespace kasen
