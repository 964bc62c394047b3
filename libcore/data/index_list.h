/// \file
/// Lists of indices that are mostly runs of consecutive ones, such as all that a worker owns, or all that others own. A
/// list keeps its runs where that takes at most half of the memory of the indices.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <vector>

namespace kasen {

class IndexList {
 public:
  IndexList() = default;
  explicit IndexList(std::vector<std::int64_t> indices);
  IndexList(std::initializer_list<std::int64_t> indices) : IndexList(std::vector<std::int64_t>(indices)) {}
  /// first, first + 1, ... first + count - 1.
  [[nodiscard]] static IndexList run(std::int64_t first, std::int64_t count);
  void append_run(std::int64_t first, std::int64_t count);

  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::int64_t operator[](std::int64_t i) const {
    if (begins_.empty()) return indices_[static_cast<std::size_t>(i)];
    const std::size_t run = run_of(i);
    return indices_[run] + i - begins_[run];
  }
  class Iterator;
  [[nodiscard]] Iterator begin() const;
  [[nodiscard]] Iterator end() const;
  /// Of a list that ascends: the position of the first index that is not less, and whether the index is there.
  [[nodiscard]] std::int64_t lower_bound(std::int64_t index) const;
  [[nodiscard]] bool contains(std::int64_t index) const {
    const std::int64_t at = lower_bound(index);
    return at < size_ && (*this)[at] == index;
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
  friend bool operator==(const IndexList& a, const IndexList& b);

 private:
  // The consecutive indices from position i on, or fewer of them.
  struct Run {
    std::int64_t first, count;
  };
  [[nodiscard]] Run run_from(std::int64_t i) const;
  [[nodiscard]] std::size_t run_of(std::int64_t i) const {
    return static_cast<std::size_t>(std::upper_bound(begins_.begin(), begins_.end(), i) - begins_.begin()) - 1;
  }

  std::vector<std::int64_t> indices_;  // all, or the first of each run
  std::vector<std::int64_t> begins_;   // the position of each run in the list; none: `indices_` has all
  std::int64_t size_ = 0;
};

/// Over the indices. Through many runs, for_each_run is faster.
class IndexList::Iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = std::int64_t;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = std::int64_t;

  Iterator() = default;
  Iterator(const IndexList* list, std::int64_t at) : list_(list), at_(at) {}
  std::int64_t operator*() const { return (*list_)[at_]; }
  Iterator& operator++() {
    ++at_;
    return *this;
  }
  Iterator operator++(int) { return {list_, at_++}; }
  friend bool operator==(const Iterator&, const Iterator&) = default;

 private:
  const IndexList* list_ = nullptr;
  std::int64_t at_ = 0;
};

inline IndexList::Iterator IndexList::begin() const { return {this, 0}; }
inline IndexList::Iterator IndexList::end() const { return {this, size_}; }

}  // namespace kasen
