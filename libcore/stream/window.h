/// \file
/// The window through which rows of arrays on a disk go by an operator: they come in order, ahead of the threads that
/// compute with them, and leave behind them. Each array's first rows may stay in memory from then on: of two passes
/// over more than memory holds, the second finds what the first left alone, not what it read last.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "libcore/data/data.h"
#include "libcore/data/disk_elements.h"
#include "libcore/stream/row_gate.h"
#include "libcore/system/reserved.h"

namespace kasen::stream {

/// An array on a disk, and its place in memory: addresses for all of it, whose pages exist for rows that are there.
struct PassingArray {
  ElementMemory memory;
  std::shared_ptr<DiskElements> disk;
  std::shared_ptr<SpilledElements> spilled;  ///< the same, of an array that the run makes; else null
  std::int64_t inner = 1;                    ///< elements of a row
  std::int64_t rows = 0;                     ///< of the array
  std::int64_t kept = 0;                     ///< rows that stay, from the first one on
  std::int64_t loaded = 0;                   ///< rows that are there between passes

  [[nodiscard]] std::int64_t row_bytes() const { return inner * memory.element.bytes(); }
};

/// Addresses for an array whose rows are on a disk.
struct HeldArray {
  Reserved addresses;
  PassingArray array;
};
/// Of `rows` with `inner` elements each, none of which is there. Each plane begins with a group of elements, so that
/// rows of one can go without those of another. UserError(limit).
[[nodiscard]] HeldArray hold_array(const ElementType& element, std::int64_t rows, std::int64_t inner);

/// An array in that memory, which has to outlive it.
[[nodiscard]] Array array_in(const ElementMemory& memory);

/// Gives the pages of all elements back.
void drop_all(const PassingArray& array);

/// How an operator uses an array whose rows go by.
struct PassingUse {
  PassingArray* array = nullptr;
  bool read = false, written = false;
  [[nodiscard]] bool goes_by() const {
    return (read && array->loaded < array->rows) || (written && array->kept < array->rows);
  }
};

/// Gives the pages of an array's elements [begin, end) back, but for those that have a byte of a kept one, or of one
/// from `end` on.
void drop_elements(const PassingArray& array, std::int64_t begin, std::int64_t end);

/// One pass over rows, or over some of them. No more than `bytes` of rows that do not stay are in memory, but for some
/// pages and groups of elements.
class RowWindow : public RowGate {
 public:
  /// Over the rows [first, last) of each array. Those from another row than 0 on are read alone, and of their arrays
  /// all rows that stay are there. `at_once`: the most rows that a thread enters. `brought`: bytes at a time.
  RowWindow(std::vector<PassingUse> uses, std::int64_t first, std::int64_t last, std::int64_t at_once,
            std::int64_t bytes, std::int64_t brought);
  ~RowWindow() override;
  RowWindow(const RowWindow&) = delete;
  RowWindow& operator=(const RowWindow&) = delete;

  void enter(std::int64_t begin, std::int64_t end) override;
  void leave(std::int64_t begin, std::int64_t end) override;
  /// All rows are left. Throws what kept some in or out.
  void finish();

 private:
  void start(std::int64_t at_once, std::int64_t brought);
  void bring_all();
  void bring(std::int64_t end) const;
  void take_away();
  void take_rows(std::int64_t end);
  [[nodiscard]] std::int64_t held(std::int64_t end) const;
  void stop();
  template <class Work>
  void guarded(const Work& work);

  std::vector<PassingUse> uses_;
  std::int64_t first_, last_, bytes_;
  std::int64_t step_ = 1;   // rows that are brought at a time
  std::int64_t there_ = 0;  // rows that threads may enter, of all arrays
  std::mutex mutex_;
  std::condition_variable came_, went_, left_some_;
  std::set<std::pair<std::int64_t, std::int64_t>> left_;  // beyond frontier_
  std::int64_t frontier_ = 0;                             // all rows before it are left
  std::vector<std::int64_t> gone_;  // of each array: the rows before this one take no memory, but for those that stay
  std::exception_ptr fault_;
  bool stop_ = false;
  std::thread loader_, taker_;
};

}  // namespace kasen::stream
