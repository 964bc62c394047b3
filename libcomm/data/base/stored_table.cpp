#include "libcomm/data/base/stored_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "libcomm/data/base/digest.h"
#include "libcomm/data/base/parallel.h"
#include "libcomm/data/base/spread.h"
#include "libcore/base/checked.h"
#include "libcore/base/error.h"

namespace kasen {
namespace {

// A run of bytes in the file, and the memory that it goes to.
struct FileRun {
  std::int64_t begin, end;  // in the file
  std::byte* to;            // null: the scalars of `elements` alternate
  Array* elements;
};

std::vector<FileRun> pieces_of(std::span<const StoredElements> wanted, std::vector<Array>& arrays) {
  std::vector<FileRun> pieces;
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const StoredElements& from = wanted[k];
    Array& to = arrays[k];
    const bool alternate = std::cmp_less(from.planes.size(), from.element.planes());
    for (std::size_t p = 0; p < from.planes.size() && from.count > 0; ++p) {
      const auto plane = static_cast<std::int64_t>(p);
      const std::int64_t bytes = alternate ? stored_bytes(from.element, from.count)
                                           : from.count * scalar_bytes(from.element.plane_scalar(plane));
      pieces.push_back({from.planes[p], from.planes[p] + bytes, alternate ? nullptr : to.plane(plane), &to});
    }
  }
  std::sort(pieces.begin(), pieces.end(), [](const FileRun& a, const FileRun& b) { return a.begin < b.begin; });
  return pieces;
}

// The blocks that have a byte of a piece, ascending.
std::vector<std::int64_t> blocks_of(const std::vector<FileRun>& pieces, const BlockGrid& grid) {
  std::vector<std::int64_t> blocks;
  for (const FileRun& piece : pieces) {
    const std::int64_t first = (piece.begin - grid.begin) / grid.block,
                       last = (piece.end - 1 - grid.begin) / grid.block;
    for (std::int64_t k = blocks.empty() ? first : std::max(first, blocks.back() + 1); k <= last; ++k)
      blocks.push_back(k);
  }
  return blocks;
}

// The pieces with bytes in begin .. end - 1. Of two pieces, one lies behind the other, or both are the same bytes: what
// is wanted of a file is parts of arrays that lie apart (manifest_read.cpp), or the whole of one for several.
std::span<const FileRun> pieces_within(const std::vector<FileRun>& pieces, std::int64_t begin, std::int64_t end) {
  const auto first =
      std::partition_point(pieces.begin(), pieces.end(), [&](const FileRun& p) { return p.end <= begin; });
  const auto last = std::partition_point(first, pieces.end(), [&](const FileRun& p) { return p.begin < end; });
  return {first, last};
}

// Gives a piece its share of the bytes begin .. end - 1 of the file, which are at `from`.
void deliver(const FileRun& piece, const std::byte* from, std::int64_t begin, std::int64_t end) {
  const std::int64_t first = std::max(begin, piece.begin), last = std::min(end, piece.end);
  const std::byte* const source = from + (first - begin);
  if (piece.to != nullptr) {
    std::memcpy(piece.to + (first - piece.begin), source, static_cast<std::size_t>(last - first));
  } else {
    const std::int64_t width = scalar_bytes(piece.elements->element.plane_scalar(0));
    Array& to = *piece.elements;
    spread(source, (first - piece.begin) / width, (last - piece.begin) / width,
           {to.bytes.data(), to.element, to.count});
  }
}

}  // namespace

std::int64_t stored_bytes(const ElementType& element, std::int64_t count) {
  const std::int64_t scalars = checked_mul(count, element.planes(), "an array's size");
  return checked_mul(scalars, scalar_bytes(element.plane_scalar(0)), "an array's size");
}

StoredFile::StoredFile(const StoredTable& table) : StoredFile(FileHandle::open_to_read(table.path)) {
  if (opened_.bytes != table.bytes)
    fail(ExitStatus::bad_input, fmt::format("'{}' has {} bytes", table.path, opened_.bytes),
         fmt::format("it had {} when the data was cut", table.bytes), "make the bundle again");
}

std::string StoredFile::digest_of_head(std::int64_t bytes) const { return digest_of_range(file_, 0, bytes); }

std::string StoredFile::digests_of_blocks(const BlockGrid& grid) const {
  BlockDigests digests(grid.count());
  std::vector<std::vector<std::byte>> buffers(static_cast<std::size_t>(data_threads()));
  parallel_for(grid.count(), [&](std::int64_t k, int thread) {
    std::vector<std::byte>& buffer = buffers[static_cast<std::size_t>(thread)];
    buffer.resize(static_cast<std::size_t>(grid.bytes_of(k)));
    file_.read(grid.begin_of(k), buffer.data(), grid.bytes_of(k));
    digests.set(k, buffer.data(), grid.bytes_of(k));
  });
  return digests.text();
}

StoredFile::Loaded StoredFile::load(std::span<const StoredElements> wanted, const BlockGrid& grid) const {
  Loaded loaded;
  for (const StoredElements& one : wanted) loaded.elements.emplace_back(one.element, one.count);
  const std::vector<FileRun> pieces = pieces_of(wanted, loaded.elements);
  loaded.read.blocks = blocks_of(pieces, grid);
  BlockDigests digests(std::ssize(loaded.read.blocks));
  std::vector<std::vector<std::byte>> buffers(static_cast<std::size_t>(data_threads()));
  parallel_for(std::ssize(loaded.read.blocks), [&](std::int64_t i, int thread) {
    const std::int64_t k = loaded.read.blocks[static_cast<std::size_t>(i)];
    const std::int64_t begin = grid.begin_of(k), bytes = grid.bytes_of(k), end = begin + bytes;
    const std::span<const FileRun> within = pieces_within(pieces, begin, end);
    const FileRun& piece = within.front();
    const bool direct = within.size() == 1 && piece.to != nullptr && piece.begin <= begin && end <= piece.end;
    std::byte* to = direct ? piece.to + (begin - piece.begin) : nullptr;
    if (!direct) {
      std::vector<std::byte>& buffer = buffers[static_cast<std::size_t>(thread)];
      buffer.resize(static_cast<std::size_t>(bytes));
      to = buffer.data();
    }
    file_.read(begin, to, bytes);
    digests.set(i, to, bytes);
    if (direct) return;
    for (const FileRun& one : within) deliver(one, to, begin, end);
  });
  loaded.read.digests = digests.text();
  return loaded;
}

// Behind the last element, at most 63 bytes up to the next multiple of 64 belong to the array, too. They lie in the
// same page, be they of the file or not.
std::optional<StoredFile::Loaded> StoredFile::map(const StoredElements& wanted, const BlockGrid& grid) const {
  constexpr std::int64_t few_bytes = 1 << 16;  // are copied faster
  if (wanted.element.planes() != 1 || wanted.planes[0] % 64 != 0) return std::nullopt;
  const std::int64_t offset = wanted.planes[0], bytes = stored_bytes(wanted.element, wanted.count);
  if (bytes < few_bytes) return std::nullopt;
  const std::int64_t first = (offset - grid.begin) / grid.block;
  const std::int64_t last = (offset + bytes - 1 - grid.begin) / grid.block, begin = grid.begin_of(first);
  const std::int64_t length = grid.begin_of(last) + grid.bytes_of(last) - begin;
  auto memory = std::make_shared<const MappedFile>(file_.descriptor(), begin, length, file_.path());
  if (memory->data() == nullptr) return std::nullopt;
  Loaded loaded;
  for (std::int64_t k = first; k <= last; ++k) loaded.read.blocks.push_back(k);
  BlockDigests digests(last - first + 1);
  std::atomic<bool> whole = true;
  parallel_for(last - first + 1, [&](std::int64_t i, int) {
    const std::int64_t at = i * grid.block, here = grid.bytes_of(first + i);
    if (!memory->bring_in(at, here)) whole = false;
    if (whole) digests.set(i, memory->data() + at, here);
  });
  if (!whole) return std::nullopt;  // reading states the reason
  loaded.read.digests = digests.text();
  Bytes held(memory, memory->data() + (offset - begin), storage_bytes(wanted.element, wanted.count));
  loaded.elements.emplace_back(wanted.element, wanted.count, std::move(held));
  loaded.memory = std::move(memory);
  return loaded;
}

bool StoredFile::is_as_it_was() const { return file_.times() == opened_; }

void MappedTables::add(std::shared_ptr<const StoredFile> file, const StoredFile::Loaded& loaded,
                       const BlockGrid& grid) {
  tables_.push_back({std::move(file), loaded.memory, loaded.read, grid});
}

// The times show who wrote and put the old content back; the digest shows who wrote through a mapping, which the times
// need not.
void MappedTables::check() const {
  for (const Table& table : tables_) {
    BlockDigests digests(std::ssize(table.read.blocks));
    parallel_for(std::ssize(table.read.blocks), [&](std::int64_t i, int) {
      const std::int64_t k = table.read.blocks[static_cast<std::size_t>(i)];
      digests.set(i, table.memory->data() + i * table.grid.block, table.grid.bytes_of(k));
    });
    if (table.file->is_as_it_was() && digests.text() == table.read.digests) continue;
    fail(ExitStatus::bad_input, fmt::format("'{}' was written while it was in use", table.file->path()),
         "what was computed may be of its old content, its new one, or both", "start again");
  }
}

}  // namespace kasen
