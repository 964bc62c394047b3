/// \file
/// The arrays of a part that are on a disk, as a run holds them: addresses for all of their elements, and memory for
/// the rows that are there (residency.h).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "libcore/stream/residency.h"
#include "libcore/stream/window.h"
#include "libcore/system/reserved.h"

namespace kasen::stream {

class PassingSet {
 public:
  /// An array of rows with `inner` elements each; returns its memory. Nothing is read.
  const ElementMemory& add(const ElementType& element, std::int64_t rows, std::int64_t inner,
                           std::shared_ptr<DiskElements> disk);
  /// One that the run makes. `forming`: bytes that this takes beside the rows.
  const ElementMemory& add(const ElementType& element, std::int64_t rows, std::int64_t inner, Tier& tier,
                           std::int64_t forming = 0);
  [[nodiscard]] bool empty() const { return arrays_.empty(); }
  /// The number of the array that has this address; -1: none.
  [[nodiscard]] int find(const std::byte* address) const;
  [[nodiscard]] int count() const { return static_cast<int>(arrays_.size()); }
  [[nodiscard]] PassingArray& array(int number) { return arrays_[static_cast<std::size_t>(number)].array; }

  /// Some operator needs all of an array.
  [[nodiscard]] bool is_whole(int array) const { return sizes_[static_cast<std::size_t>(array)].whole; }
  void needs_whole(int array) { sizes_[static_cast<std::size_t>(array)].whole = true; }
  /// These have equal rows, and names exchange them: as many rows of each stay.
  void tie(const std::vector<int>& arrays);
  [[nodiscard]] bool is_tied(int array) const { return sizes_[static_cast<std::size_t>(array)].together >= 0; }
  /// Arrays of equal rows go by an operator.
  void add_passage(Passage passage) { passages_.push_back(std::move(passage)); }
  /// Forgets what operators need.
  void clear_passages();
  [[nodiscard]] Needs needs(std::int64_t brought) const { return needs_of(sizes_, passages_, brought); }
  /// Keeps the rows that this part has memory for, number `part` of the process. Others come `brought` bytes at a time.
  void keep(const Shares& shares, std::size_t part, std::int64_t brought);
  /// Reads an array if operators need all of it.
  void bring_whole(int array);
  /// Null if nothing goes by. `at_once` as in Passage.
  [[nodiscard]] std::unique_ptr<RowWindow> pass(std::vector<PassingUse> uses, std::int64_t at_once) const;
  /// Over some rows of arrays that are read alone, and whose rows that stay are there.
  [[nodiscard]] std::unique_ptr<RowWindow> pass_some(std::vector<PassingUse> uses, std::int64_t first,
                                                     std::int64_t last, std::int64_t at_once) const;
  /// Bytes of rows that go by at once.
  [[nodiscard]] std::int64_t window() const { return window_; }

  /// The first elements of an array that the run made, as pages of its file: all of them go there, and out of memory.
  [[nodiscard]] Bytes hand_over(int array, std::int64_t elements);
  [[nodiscard]] std::int64_t read_bytes() const;
  [[nodiscard]] std::int64_t written_bytes() const;
  /// Memory that rows take which stay.
  [[nodiscard]] std::int64_t kept_bytes() const { return kept_bytes_; }

 private:
  HeldArray& hold(const ElementType& element, std::int64_t rows, std::int64_t inner);
  std::deque<HeldArray> arrays_;
  std::vector<ArrayOnDisk> sizes_;
  std::vector<Passage> passages_;
  std::int64_t window_ = 0, kept_bytes_ = 0, brought_ = 0;
};

}  // namespace kasen::stream
