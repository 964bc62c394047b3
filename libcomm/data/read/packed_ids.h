// Ids in little memory: as offsets from the smallest, in as few bytes as the largest needs. Runs of equal ids replace
// them if that is shorter (the rows of a file sorted by row). Packing and unpacking take about a nanosecond an id.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "libcomm/data/base/spill_pieces.h"

namespace kasen {

class PackedIds {
 public:
  PackedIds() = default;
  explicit PackedIds(std::span<const std::int64_t> ids);
  explicit PackedIds(std::span<const std::int32_t> ids);

  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] std::int64_t smallest() const { return base_; }    // 0 without ids
  [[nodiscard]] std::int64_t largest() const { return largest_; }  // -1 without ids
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }      // that the ids take
  void shift(std::int64_t by);                                     // adds `by` to each

  // Their bytes lie in the file from now on, and unpacking reads them each time. UserError: cannot_create, io.
  void move_to(PieceFile& file);

  void unpack(std::int64_t* to) const;
  void unpack(std::int32_t* to) const;  // they must fit

 private:
  template <class T>
  void pack(std::span<const T> ids);
  template <class T>
  void unpack_as(T* to) const;

  std::int64_t size_ = 0, base_ = 0, largest_ = -1, runs_ = 0, bytes_ = 0;
  int width_ = 0;  // bytes of an offset; with runs (runs_ > 0) each is followed by a length of 4 bytes
  std::unique_ptr<std::byte[]> data_;
  SpilledPiece spilled_;  // in its place
};

}  // namespace kasen
