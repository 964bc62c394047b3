/// \file
/// Data on one worker: the content of a bundle's part, in memory. libcomm's readers and partitioners (or tests) make
/// it, and the executor consumes it. `global` indices count from 0 over the whole dimension. `local` indices count
/// owned elements first, in ascending global order, then ghosts.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libcore/base/types.h"
#include "libcore/data/compressed.h"
#include "libcore/data/index_list.h"
#include "libcore/system/memory.h"

namespace kasen {

class DiskElements;  // disk_elements.h

/// Elements are stored plane by plane: plane p starts at plane_offset(element, capacity, p), a multiple of 64 bytes.
[[nodiscard]] std::int64_t plane_offset(const ElementType& element, std::int64_t capacity, std::int64_t plane);
/// Bytes of `capacity` elements in this layout. Buffers are predicted, allocated and counted in this unit.
[[nodiscard]] std::int64_t storage_bytes(const ElementType& element, std::int64_t capacity);

struct Array {
  ElementType element;
  std::int64_t count = 0;
  Bytes bytes;

  Array() = default;
  Array(ElementType element, std::int64_t count);               ///< zeroed; checked sizes
  Array(ElementType element, std::int64_t count, Bytes bytes);  ///< elements that are there, in this layout
  [[nodiscard]] std::byte* plane(std::int64_t p) { return bytes.data() + plane_offset(element, count, p); }
  [[nodiscard]] const std::byte* plane(std::int64_t p) const { return bytes.data() + plane_offset(element, count, p); }
  template <class T>
  [[nodiscard]] T* as(std::int64_t p = 0) {
    return reinterpret_cast<T*>(plane(p));
  }
  template <class T>
  [[nodiscard]] const T* as(std::int64_t p = 0) const {
    return reinterpret_cast<const T*>(plane(p));
  }
};

/// A range of consecutive entries in a list that belong to one other worker.
struct PeerRange {
  std::int32_t peer = 0;
  std::int64_t begin = 0, end = 0;
  friend bool operator==(const PeerRange&, const PeerRange&) = default;
};

/// The ghosts of one matrix along one axis, seen from one worker. Both sides list a pair's elements by ascending global
/// index, so that a message needs no indices.
struct AxisSlaves {
  std::vector<std::int64_t> slaves;       ///< global indices, by owner, then ascending
  std::vector<PeerRange> slave_owners;    ///< the range of each owner in it (ascending owner; never this worker)
  std::vector<std::int32_t> mirrors;      ///< local index of each element of this worker that a peer mirrors
  std::vector<PeerRange> mirror_holders;  ///< the range of each peer in it (ascending peer)
};

/// The nonzeros of a matrix's part where they are not in memory.
struct EntriesOnDisk {
  std::shared_ptr<DiskElements> columns;  ///< i32
  std::shared_ptr<DiskElements> values;   ///< null if the matrix has none
  std::vector<std::uint32_t> in_column;   ///< the number in each local column
};

/// A sparse matrix's nonzeros on one worker: compressed rows over local indices, columns ascending within a row. Row i
/// is owned row i of the row dimension if i < masters, else row ghost i - masters. The same holds for columns. Of an
/// input over [T, N, M], T local, these are T matrices over [N, M] with the same ghosts: its batches. The rows of batch
/// t follow those of batch t - 1.
struct PartMatrix {
  std::string row_dim, col_dim;
  ElementType element;
  std::vector<std::int64_t> row_pointers;  ///< batches * rows + 1
  std::vector<std::int32_t> columns;       ///< one for each nonzero
  Array values;                            ///< count = nonzeros; none for null
  AxisSlaves row_slaves, col_slaves;
  /// `columns` and `values` are empty then.
  std::shared_ptr<const EntriesOnDisk> on_disk = nullptr;
  std::int64_t batches = 1;

  [[nodiscard]] std::int64_t entries() const { return row_pointers.empty() ? 0 : row_pointers.back(); }
};

/// One batch as a matrix by itself.
[[nodiscard]] PartMatrix batch_of(const PartMatrix& matrix, std::int64_t batch);

/// Advances `index` to the next one of an array of that shape, the last dimension first; the last wraps to the first.
void next_index(std::vector<std::int64_t>& index, const std::vector<std::int64_t>& shape);

struct PartDim {
  std::int64_t size = 0;               ///< global
  bool local = false;                  ///< every worker holds all (`masters` then lists 0..size-1)
  IndexList masters;                   ///< global indices, ascending
  std::vector<std::int64_t> original;  ///< the user's ids of the owned elements; empty: the global index
  /// If dense arrays are whole along it (`whole`): the other workers' owned elements, by owner, then ascending.
  bool whole = false;
  IndexList others;
  std::vector<PeerRange> other_owners;
};

/// Dense arrays: rows of the first dimension that is not local, in the order of `masters`, times all other dimensions.
struct PartArray {
  std::vector<std::string> dims;
  Array data;  ///< count = masters(cut dim) * product of the other sizes; whole for shareds
  /// For two dimensions, the first cut and the second local: replaces `data`, which then has only its element type.
  std::optional<CompressedArray> compressed = std::nullopt;
  /// For a compressed array in a part that was read without its elements.
  std::optional<CompressedBytes> compressed_bytes = std::nullopt;
  /// Where the elements are, if they are not in memory: `data` then has their type and number alone.
  std::shared_ptr<DiskElements> on_disk = nullptr;
};

/// Empty for an array that is not compressed.
[[nodiscard]] std::optional<CompressedBytes> compressed_bytes(const PartArray& array);

struct Part {
  int worker = 0;
  int workers = 1;
  std::map<std::string, PartDim> dims;
  std::map<std::string, PartMatrix> matrices;  ///< by input name
  std::map<std::string, PartArray> arrays;     ///< by input name
};

/// Bytes of a part's lists of indices: owned elements and their ids, those of others, ghosts, mirrors, and neighbours.
[[nodiscard]] std::int64_t list_bytes(const Part& part);
/// Bytes of some lists.
template <class... Lists>
[[nodiscard]] std::int64_t bytes_of_lists(const Lists&... lists) {
  return (static_cast<std::int64_t>(lists.size() * sizeof(*lists.data())) + ... + std::int64_t{0});
}

}  // namespace kasen
