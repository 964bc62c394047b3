#include "libcomm/data/bundle/left_entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "libcomm/data/base/digest.h"
#include "libcomm/data/base/streamed_elements.h"
#include "libcomm/data/bundle/stored.h"
#include "libcore/base/error.h"
#include "libcore/stream/matrix_entries.h"

namespace kasen {
namespace {

[[noreturn]] void refuse(const std::string& file) {
  fail(ExitStatus::bad_input, fmt::format("'{}' was altered, or is another bundle's", file),
       "its digest is not the manifest's", "make the bundle again");
}

}  // namespace

LeftEntries::LeftEntries(FileHandle part, const std::string& digest, std::function<bool(const std::string&)> streamed)
    : file_(std::make_shared<const StoredFile>(std::move(part))),
      grid_{0, file_->bytes(), std::int64_t{1} << 20},
      streamed_(std::move(streamed)) {
  std::vector<std::byte> block(static_cast<std::size_t>(grid_.block));
  RunningDigest all;
  BlockDigests by_block(grid_.count());
  for (std::int64_t k = 0; k < grid_.count(); ++k) {
    file_->handle().read(grid_.begin_of(k), block.data(), grid_.bytes_of(k));
    all.update(block.data(), grid_.bytes_of(k));
    by_block.set(k, block.data(), grid_.bytes_of(k));
  }
  if (all.hex() != digest) refuse(file_->path());
  digests_ = split_digests(by_block.text());
}

bool LeftEntries::stays(const std::string& name, const ElementType& element, std::int64_t count) const {
  const bool any = std::all_of(element.components.begin(), element.components.end(), [](const Component& part) {
    return part.scalar == Scalar::null || is_float(part.scalar) || part.scalar == Scalar::i64 ||
           part.scalar == Scalar::i32;
  });
  return count >= least_bytes / (4 + element.bytes()) && any && streamed_(name);
}

std::shared_ptr<DiskElements> LeftEntries::elements(StoredElements at) const {
  return std::make_shared<StreamedElements>(file_, std::move(at), grid_, digests_,
                                            [path = file_->path()] { refuse(path); });
}

std::shared_ptr<const EntriesOnDisk> LeftEntries::columns_at(std::int64_t offset, std::int64_t count) const {
  return std::make_shared<const EntriesOnDisk>(
      EntriesOnDisk{elements({ElementType::of(Scalar::i32), count, {offset}}), nullptr, {}});
}

std::shared_ptr<const EntriesOnDisk> LeftEntries::with_values(const EntriesOnDisk& columns, const ElementType& element,
                                                              std::int64_t count,
                                                              std::vector<std::int64_t> planes) const {
  if (planes.empty()) return std::make_shared<const EntriesOnDisk>(columns);
  return std::make_shared<const EntriesOnDisk>(
      EntriesOnDisk{columns.columns, elements({element, count, std::move(planes)}), {}});
}

void count_left(PartMatrix& matrix, std::int64_t count, std::int64_t cols, const std::string& name,
                const std::string& file) {
  if (matrix.on_disk == nullptr) return;
  const auto require = [&](bool good) {
    if (good) return;
    fail(ExitStatus::bad_input, fmt::format("'{}' is not as it was written", file),
         fmt::format("{}: columns do not ascend", name), "make it again");
  };
  require(matrix.entries() == count);
  EntriesOnDisk counted = *matrix.on_disk;
  counted.in_column.assign(static_cast<std::size_t>(cols), 0);
  stream::MatrixEntries entries(matrix, false);
  std::int64_t before = -1;
  entries.each_of_rows(0, matrix.entries(), [&](std::size_t row, std::int64_t begin, std::int64_t end) {
    if (begin == matrix.row_pointers[row]) before = -1;
    for (std::int64_t e = begin; e < end; ++e) {
      const std::int64_t column = entries.columns()[e];
      require(column > before && column < cols);
      ++counted.in_column[static_cast<std::size_t>(column)];
      before = column;
    }
  });
  matrix.on_disk = std::make_shared<const EntriesOnDisk>(std::move(counted));
}

}  // namespace kasen
