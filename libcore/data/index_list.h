/// \file
/// Lists of indices that are mostly runs of consecutive ones, such as all that other workers own. A list keeps its runs
/// where that takes at most half of the memory of the indices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kasen {

class IndexList {
 public:
  IndexList() = default;
  explicit IndexList(std::vector<std::int64_t> indices);
  void append_run(std::int64_t first, std::int64_t count);

  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::int64_t operator[](std::int64_t i) const {
    if (begins_.empty()) return indices_[static_cast<std::size_t>(i)];
    const std::size_t run = run_of(i);
    return indices_[run] + i - begins_[run];
  }
  /// Calls use(first, count) for the runs of which elements begin .. end - 1 consist, in their order.
  template <class Use>
  void for_each_run(std::int64_t begin, std::int64_t end, const Use& use) const {
    if (begins_.empty()) {
      for (std::int64_t i = begin; i < end; ++i) use(indices_[static_cast<std::size_t>(i)], std::int64_t{1});
      return;
    }
    for (std::size_t run = begin < end ? run_of(begin) : 0; begin < end; ++run) {
      const std::int64_t stop = run + 1 < begins_.size() ? std::min(end, begins_[run + 1]) : end;
      use(indices_[run] + begin - begins_[run], stop - begin);
      begin = stop;
    }
  }
  [[nodiscard]] std::vector<std::int64_t> listed() const;
  [[nodiscard]] std::int64_t bytes() const;  ///< of memory
  friend bool operator==(const IndexList& a, const IndexList& b) {
    return a.size_ == b.size_ && a.listed() == b.listed();
  }

 private:
  [[nodiscard]] std::size_t run_of(std::int64_t i) const {
    return static_cast<std::size_t>(std::upper_bound(begins_.begin(), begins_.end(), i) - begins_.begin()) - 1;
  }

  std::vector<std::int64_t> indices_;  // all, or the first of each run
  std::vector<std::int64_t> begins_;   // the position of each run in the list; none: `indices_` has all
  std::int64_t size_ = 0;
};

}  // namespace kasen
