#include "libcore/data/place_list.h"

#include <utility>

#include "libcore/base/checked.h"

namespace kasen {
namespace {

// All indices of an axis in their order: a slice may have them in another one.
bool has_all_in_order(const PlaceList::Axis& axis) {
  if (axis.indices.size() != axis.extent || axis.step != 1) return false;
  std::int64_t next = 0;
  bool ordered = true;
  axis.indices.for_each_run(0, axis.indices.size(), [&](std::int64_t first, std::int64_t count) {
    ordered = ordered && first == next;
    next += count;
  });
  return ordered;
}

// The places of all elements at these indices of an axis, with `below` elements each.
IndexList widened(const IndexList& indices, std::int64_t below) {
  IndexList list;
  indices.for_each_run(0, indices.size(),
                       [&](std::int64_t first, std::int64_t count) { list.append_run(first * below, count * below); });
  return list;
}

}  // namespace

PlaceList::PlaceList(std::vector<Axis> axes) : along_(IndexList::run(0, 1)), size_(1) {
  std::int64_t below = 1;
  bool whole = true;
  while (!axes.empty() && whole && (axes.back().step == 1 || below == 1)) {
    const Axis& axis = axes.back();
    whole = has_all_in_order(axis);
    along_ = widened(axis.indices, below);
    step_ = axis.step;
    begin_ += axis.first * below;
    below = checked_mul(below, axis.extent, "an array's local size");
    axes.pop_back();
  }
  for (; !axes.empty(); axes.pop_back()) {
    Axis& axis = axes.back();
    begin_ += axis.first * below;
    outer_.push_back({std::move(axis.indices), below * axis.step});
    below = checked_mul(below, axis.extent, "an array's local size");
  }
  std::reverse(outer_.begin(), outer_.end());
  size_ = along_.size();
  for (const Outer& axis : outer_) size_ = checked_mul(size_, axis.indices.size(), "an array's local size");
  along_.for_each_run(0, along_.size(),
                      [&](std::int64_t, std::int64_t count) { longest_ = std::max(longest_, step_ == 1 ? count : 1); });
}

std::int64_t PlaceList::line_begin(std::int64_t line) const {
  std::int64_t at = begin_;
  for (auto axis = outer_.rbegin(); axis != outer_.rend(); ++axis) {
    at += axis->indices[line % axis->indices.size()] * axis->stride;
    line /= axis->indices.size();
  }
  return at;
}

std::int64_t PlaceList::first() const { return size_ == 0 ? 0 : line_begin(0) + along_[0] * step_; }

std::int64_t PlaceList::lower_bound(std::int64_t place) const {
  std::int64_t begin = 0, end = size_;
  while (begin < end) {
    const std::int64_t middle = begin + (end - begin) / 2;
    const bool before = line_begin(middle / along_.size()) + along_[middle % along_.size()] * step_ < place;
    (before ? begin : end) = before ? middle + 1 : middle;
  }
  return begin;
}

std::int64_t PlaceList::bytes() const {
  std::int64_t bytes = along_.bytes();
  for (const Outer& axis : outer_) bytes += axis.indices.bytes();
  return bytes;
}

}  // namespace kasen
