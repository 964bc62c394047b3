#include "libcore/data/index_list.h"

#include <algorithm>
#include <utility>

namespace kasen {

IndexList::IndexList(std::vector<std::int64_t> indices) : size_(static_cast<std::int64_t>(indices.size())) {
  const auto begins_run = [&](std::size_t i) { return i == 0 || indices[i] != indices[i - 1] + 1; };
  std::size_t runs = 0;
  for (std::size_t i = 0; i < indices.size(); ++i) runs += begins_run(i) ? 1 : 0;
  if (indices.empty() || 4 * runs > indices.size()) {  // a run has two numbers
    indices_ = std::move(indices);
    return;
  }
  indices_.reserve(runs);
  begins_.reserve(runs);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (!begins_run(i)) continue;
    indices_.push_back(indices[i]);
    begins_.push_back(static_cast<std::int64_t>(i));
  }
}

IndexList IndexList::run(std::int64_t first, std::int64_t count) {
  IndexList list;
  list.append_run(first, count);
  return list;
}

std::int64_t IndexList::lower_bound(std::int64_t index) const {
  if (begins_.empty()) return std::lower_bound(indices_.begin(), indices_.end(), index) - indices_.begin();
  const auto behind = std::upper_bound(indices_.begin(), indices_.end(), index) - indices_.begin();  // runs
  if (behind == 0) return 0;
  const auto run = static_cast<std::size_t>(behind - 1);
  const std::int64_t count = (run + 1 < begins_.size() ? begins_[run + 1] : size_) - begins_[run];
  return begins_[run] + std::min(index - indices_[run], count);
}

void IndexList::append_run(std::int64_t first, std::int64_t count) {
  const bool one_by_one = begins_.empty() && size_ > 0;
  const bool goes_on = !begins_.empty() && indices_.back() + size_ - begins_.back() == first;
  for (std::int64_t i = first; one_by_one && i < first + count; ++i) indices_.push_back(i);
  if (!one_by_one && !goes_on && count > 0) {
    indices_.push_back(first);
    begins_.push_back(size_);
  }
  size_ += count;
}

IndexList::Run IndexList::run_from(std::int64_t i) const {
  if (begins_.empty()) return {indices_[static_cast<std::size_t>(i)], 1};
  const std::size_t run = run_of(i);
  return {indices_[run] + i - begins_[run], (run + 1 < begins_.size() ? begins_[run + 1] : size_) - i};
}

bool operator==(const IndexList& a, const IndexList& b) {
  if (a.size_ != b.size_) return false;
  for (std::int64_t i = 0; i < a.size_;) {
    const IndexList::Run x = a.run_from(i), y = b.run_from(i);
    if (x.first != y.first) return false;
    i += std::min(x.count, y.count);
  }
  return true;
}

std::vector<std::int64_t> IndexList::listed() const {
  std::vector<std::int64_t> all;
  all.reserve(static_cast<std::size_t>(size_));
  for_each_run(0, size_, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t i = first; i < first + count; ++i) all.push_back(i);
  });
  return all;
}

std::int64_t IndexList::bytes() const {
  return static_cast<std::int64_t>((indices_.size() + begins_.size()) * sizeof(std::int64_t));
}

}  // namespace kasen
