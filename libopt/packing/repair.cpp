#include "libopt/packing/repair.h"

#include <algorithm>
#include <limits>

namespace kasen::packing {
namespace {

constexpr std::int64_t ejected = -1;

std::size_t place_of(int item) { return static_cast<std::size_t>(item); }

}  // namespace

Repair::Repair(const Problem& problem, std::int64_t capacity, const Offsets& start, unsigned seed)
    : problem_(problem), capacity_(capacity), offsets_(start), penalties_(start.size(), 1), random_(seed) {
  for (int i = 0; i < problem.size(); ++i) {
    if (offsets_[place_of(i)] + problem.items[place_of(i)].size <= capacity) continue;
    offsets_[place_of(i)] = ejected;
    waiting_.push_back(i);
  }
}

std::optional<Offsets> Repair::run(std::int64_t& steps) {
  for (; !waiting_.empty() && steps > 0; --steps) {
    std::size_t chosen = waiting_.size() - 1;
    if (random_() % 4 == 0) chosen = random_() % waiting_.size();
    const int item = waiting_[chosen];
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(chosen));
    place(item);
  }
  if (!waiting_.empty()) return std::nullopt;
  return offsets_;
}

void Repair::place(int item) {
  const Item& wanted = problem_.items[place_of(item)];
  list_placed(item);
  list_candidates(wanted);
  const std::int64_t offset = cheapest(wanted);
  eject_overlapped(offset, offset + wanted.size);
  offsets_[place_of(item)] = offset;
}

void Repair::list_placed(int item) {
  by_lower_.clear();
  for (const int other : problem_.meets[place_of(item)]) {
    const std::int64_t lower = offsets_[place_of(other)];
    if (lower != ejected)
      by_lower_.push_back({lower, lower + problem_.items[place_of(other)].size, penalties_[place_of(other)], other});
  }
  by_upper_ = by_lower_;
  std::sort(by_lower_.begin(), by_lower_.end(), [](const Placed& a, const Placed& b) { return a.lower < b.lower; });
  std::sort(by_upper_.begin(), by_upper_.end(), [](const Placed& a, const Placed& b) { return a.upper < b.upper; });
}

// On the floor, on top of another, below another, below the capacity.
void Repair::list_candidates(const Item& item) {
  candidates_.assign(1, 0);
  const std::int64_t last = (capacity_ - item.size) / item.alignment * item.alignment;
  const auto add = [&](std::int64_t offset) {
    if (offset > 0 && offset <= last) candidates_.push_back(offset);
  };
  add(last);
  for (const Placed& other : by_lower_) {
    add(aligned_up(other.upper, item.alignment));
    if (other.lower > item.size) add((other.lower - item.size) / item.alignment * item.alignment);
  }
  std::sort(candidates_.begin(), candidates_.end());
  candidates_.erase(std::unique(candidates_.begin(), candidates_.end()), candidates_.end());
}

// What overlaps [x, x + size) begins below x + size, and does not end up to x.
std::int64_t Repair::cheapest(const Item& item) {
  std::int64_t best = 0, least = std::numeric_limits<std::int64_t>::max(), begun = 0, ended = 0;
  std::size_t lower = 0, upper = 0;
  unsigned equal = 0;
  for (const std::int64_t offset : candidates_) {
    for (; lower < by_lower_.size() && by_lower_[lower].lower < offset + item.size; ++lower)
      begun += by_lower_[lower].penalty;
    for (; upper < by_upper_.size() && by_upper_[upper].upper <= offset; ++upper) ended += by_upper_[upper].penalty;
    const std::int64_t price = begun - ended;
    if (price > least) continue;
    equal = price < least ? 1 : equal + 1;
    if (equal == 1 || random_() % equal == 0) best = offset;
    least = price;
  }
  return best;
}

void Repair::eject_overlapped(std::int64_t lower, std::int64_t upper) {
  for (const Placed& other : by_lower_) {
    if (other.lower >= upper || other.upper <= lower) continue;
    offsets_[place_of(other.item)] = ejected;
    ++penalties_[place_of(other.item)];
    waiting_.push_back(other.item);
  }
}

}  // namespace kasen::packing
