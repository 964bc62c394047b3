#include "libcore/data/index_list.h"

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
