/// \file
/// Places of elements in a row-major array: those at some indices of each axis. Its size is that of the axes' lists.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "libcore/data/index_list.h"

namespace kasen {

class PlaceList {
 public:
  struct Axis {
    IndexList indices;        ///< ascending, but for some slices
    std::int64_t extent = 0;  ///< of the array
    /// The index i stands at first + step i of the axis.
    std::int64_t first = 0, step = 1;
  };

  PlaceList() = default;  ///< of no element
  /// Without axes: of the only element.
  explicit PlaceList(std::vector<Axis> axes);

  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] bool is_run() const { return size_ == 0 || (outer_.empty() && longest_ == size_); }
  [[nodiscard]] std::int64_t longest_run() const { return longest_; }
  [[nodiscard]] std::int64_t first() const;  ///< of the list; 0 if there are none
  [[nodiscard]] std::int64_t bytes() const;  ///< of memory
  /// The number of places before this one, if they ascend.
  [[nodiscard]] std::int64_t lower_bound(std::int64_t place) const;

  /// Calls use(first, count) for the runs of which places begin .. end - 1 consist, in their order.
  template <class Use>
  void for_each_run(std::int64_t begin, std::int64_t end, const Use& use) const {
    while (begin < end) {
      const std::int64_t line = begin / along_.size(), within = begin % along_.size();
      const std::int64_t some = std::min(along_.size() - within, end - begin), at = line_begin(line);
      along_.for_each_run(within, within + some, [&](std::int64_t first, std::int64_t count) {
        if (step_ == 1) return use(at + first, count);
        for (std::int64_t i = first; i < first + count; ++i) use(at + i * step_, std::int64_t{1});
      });
      begin += some;
    }
  }

 private:
  struct Outer {
    IndexList indices;
    std::int64_t stride;
  };
  [[nodiscard]] std::int64_t line_begin(std::int64_t line) const;

  std::vector<Outer> outer_;  // the last one runs fastest
  IndexList along_;           // of a line: axes behind which all is whole are one with them
  std::int64_t step_ = 1;     // from one index of along_ to the next
  std::int64_t begin_ = 0;    // of index 0 along all axes
  std::int64_t size_ = 0, longest_ = 0;
};

}  // namespace kasen
