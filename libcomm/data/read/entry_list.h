// The entries of a sparse matrix in packed chunks, which readers hand over and the partitioner takes apart. A graph
// takes about 4 bytes an edge if it is sorted, 6 if not; chunks are freed one by one. Where memory has no room for all
// entries, chunks lie in spill files, and are read whenever they are unpacked.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "libcomm/data/read/packed_ids.h"
#include "libcore/data/data.h"

namespace kasen {

// Values of a chunk, plane after plane, each from a multiple of 8 bytes on.
class PackedValues {
 public:
  PackedValues() = default;
  PackedValues(const ElementType& element, std::int64_t count);  // not set
  PackedValues(const Array& from, std::int64_t first, std::int64_t count);
  [[nodiscard]] std::byte* plane(const ElementType& element, std::int64_t p);
  [[nodiscard]] const std::byte* plane(const ElementType& element, std::int64_t p) const;

  // They lie in the file from now on, and have no planes. UserError: cannot_create, io.
  void move_to(PieceFile& file);
  void hold();  // brings them back
  // These, or a copy in `room` of those that lie in a file.
  [[nodiscard]] const PackedValues& held(PackedValues& room) const;

 private:
  std::int64_t count_ = 0, bytes_ = 0;
  std::unique_ptr<std::byte[]> data_;
  SpilledPiece spilled_;  // in its place
};

struct EntryChunk {
  PackedIds rows, cols;
  PackedValues values;  // nothing for null
  [[nodiscard]] std::int64_t count() const { return rows.size(); }
  void move_to(PieceFile& file);
};

struct EntryList {
  ElementType element = ElementType::of(Scalar::null);
  std::vector<EntryChunk> chunks;
  // Where the chunks lie, and those that are made of them will: in a file like this one. None: in memory.
  std::shared_ptr<PieceFile> spill = nullptr;

  EntryList() = default;
  explicit EntryList(ElementType type) : element(std::move(type)) {}
  // Entry k has values[k]; no values for null.
  EntryList(const std::vector<std::int64_t>& rows, const std::vector<std::int64_t>& cols, const Array& values);

  [[nodiscard]] std::int64_t count() const;
  [[nodiscard]] bool valued() const { return element.bytes() > 0; }
  // All of them, in order.
  [[nodiscard]] std::vector<std::int64_t> rows() const;
  [[nodiscard]] std::vector<std::int64_t> cols() const;
  [[nodiscard]] Array values() const;
};

// Gives freed memory back to the system: chunks lie among others, and the allocator would keep their pages.
void release_freed_memory();
// From now on freed memory goes back by itself, as far as the allocator can, for a process with a limit on its memory.
void keep_little_free_memory();

}  // namespace kasen
