#include "libopt/packing/greedy.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace kasen::packing {
namespace {

constexpr std::int64_t unplaced = -1;

std::size_t at(int item) { return static_cast<std::size_t>(item); }

// Gaps between the placed items that an item meets.
class Gaps {
 public:
  explicit Gaps(const Problem& problem) : problem_(problem) {}

  std::int64_t find(int item, const Offsets& offsets, Fit fit) {
    placed_.clear();
    for (const int other : problem_.meets[at(item)]) {
      if (offsets[at(other)] == unplaced) continue;
      placed_.emplace_back(offsets[at(other)], offsets[at(other)] + problem_.items[at(other)].size);
    }
    std::sort(placed_.begin(), placed_.end());
    const Item& wanted = problem_.items[at(item)];
    std::int64_t top = 0, found = unplaced, smallest = std::numeric_limits<std::int64_t>::max();
    for (const auto& [lower, upper] : placed_) {
      const std::int64_t gap = lower - top;
      if (gap >= wanted.size && gap < smallest) {
        found = top;
        smallest = gap;
        if (fit == Fit::first) return found;
      }
      top = std::max(top, aligned_up(upper, wanted.alignment));
    }
    return found == unplaced ? top : found;
  }

 private:
  const Problem& problem_;
  std::vector<std::pair<std::int64_t, std::int64_t>> placed_;
};

}  // namespace

Offsets place_in_order(const Problem& problem, const Ranks& ranks, Fit fit) {
  Offsets offsets(problem.items.size(), unplaced);
  Gaps gaps(problem);
  for (const int item : in_order(ranks)) offsets[at(item)] = gaps.find(item, offsets, fit);
  return offsets;
}

Offsets place_lowest(const Problem& problem, const Ranks& ranks) {
  Offsets offsets(problem.items.size(), unplaced), floors(problem.items.size(), 0);
  const std::vector<int> order = in_order(ranks);
  for (std::size_t count = 0; count < order.size(); ++count) {
    int next = -1;
    for (const int item : order) {
      if (offsets[at(item)] == unplaced && (next < 0 || floors[at(item)] < floors[at(next)])) next = item;
    }
    offsets[at(next)] = floors[at(next)];
    const std::int64_t top = floors[at(next)] + problem.items[at(next)].size;
    for (const int other : problem.meets[at(next)]) {
      floors[at(other)] = std::max(floors[at(other)], aligned_up(top, problem.items[at(other)].alignment));
    }
  }
  return offsets;
}

void settle(const Problem& problem, Offsets& offsets) {
  std::vector<int> order(offsets.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return offsets[at(a)] < offsets[at(b)]; });
  Offsets settled(offsets.size(), unplaced);
  Gaps gaps(problem);
  for (const int item : order) settled[at(item)] = gaps.find(item, settled, Fit::first);
  offsets = std::move(settled);
}

Offsets place_greedily(const Problem& problem) {
  Offsets best;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  const auto take = [&](Offsets offsets) {
    if (const std::int64_t size = pool_size(problem, offsets); size < least) {
      least = size;
      best = std::move(offsets);
    }
  };
  for (const Ranks& ranks : orders_of(problem)) {
    take(place_in_order(problem, ranks, Fit::first));
    take(place_in_order(problem, ranks, Fit::best));
    take(place_lowest(problem, ranks));
    if (least == problem.bound) break;
  }
  return best;
}

}  // namespace kasen::packing
