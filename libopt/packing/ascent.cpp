#include "libopt/packing/ascent.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace kasen::packing {
namespace {

constexpr std::int64_t no_offset = std::numeric_limits<std::int64_t>::max();
constexpr int same_limit = 14, most_doublings = 20;  // tries in other orders before they get twice the placements
constexpr double weight_growth = 1.01, heaviest = 1e100;

std::size_t nth(int item) { return static_cast<std::size_t>(item); }

}  // namespace

Ascent::Ascent(const Problem& problem)
    : problem_(problem),
      orders_(orders_of(problem)),
      before_(problem.items.size(), -1),
      weights_(problem.items.size(), 0) {
  for (int i = 0; i < problem.size(); ++i) {
    if (item_of(i).twin >= 0) before_[nth(item_of(i).twin)] = i;
  }
}

Verdict Ascent::run(std::int64_t capacity, std::int64_t& steps) {
  capacity_ = capacity;
  while (steps > 0) {
    next_order();
    const std::int64_t limit =
        std::min(steps, std::int64_t{2} * problem_.size() << std::min(turn_ / same_limit, most_doublings));
    left_ = limit;
    stopped_ = false;
    begin();
    const bool found = look_again() && solve({0, open_.size()});
    steps -= limit - left_;
    if (found || !stopped_) return found ? Verdict::found : Verdict::none;
    ++turn_;
  }
  return Verdict::unknown;
}

// The known orders in turn; each also behind what failed most often so far.
void Ascent::next_order() {
  const int count = static_cast<int>(orders_.size());
  ranks_ = orders_[nth((turn_ / 2) % count)];
  if (turn_ % 2 == 0) return;
  std::vector<int> order(ranks_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    if (weights_[nth(a)] != weights_[nth(b)]) return weights_[nth(a)] > weights_[nth(b)];
    return ranks_[nth(a)] < ranks_[nth(b)];
  });
  ranks_ = in_order(order);
}

void Ascent::begin() {
  const std::size_t count = problem_.items.size(), sections = problem_.sections.size();
  floors_.assign(count, 0);
  releases_.assign(count, 0);
  placed_.assign(count, 0);
  sums_.assign(sections, 0);
  least_.assign(sections, 0);
  holders_.assign(sections, -1);
  is_stale_.assign(sections, 1);
  stale_.resize(sections);
  std::iota(stale_.begin(), stale_.end(), 0);
  for (std::size_t s = 0; s < sections; ++s) {
    for (const int i : problem_.sections[s]) sums_[s] += item_of(i).size;
  }
  items_.clear();
  sections_.clear();
  order_.clear();
  open_.resize(count);
  std::iota(open_.begin(), open_.end(), 0);
}

// Splits items where no time of one without a place crosses. The stack of lists is as before afterwards.
bool Ascent::solve(Range items) {
  const std::size_t top = open_.size();
  const Mark before = mark();
  std::size_t from = top;
  int end = 0;
  bool solved = true;
  for (std::size_t k = items.from; k < items.to && solved; ++k) {
    const int i = open_[k];
    if (placed_[nth(i)]) continue;
    if (open_.size() > from && item_of(i).first >= end) {
      solved = solve_part({from, open_.size()});
      open_.resize(from);
    }
    open_.push_back(i);
    end = std::max(end, item_of(i).last);
  }
  if (solved && open_.size() > from) solved = solve_part({from, open_.size()});
  open_.resize(top);
  if (!solved) undo(before);
  return solved;
}

bool Ascent::solve_part(Range items) {
  const std::size_t top = open_.size();
  const Mark before = mark();
  const std::size_t end = list_candidates(items);
  for (std::size_t k = top; k < end; ++k) {
    const int item = open_[k];
    if (--left_ <= 0) stopped_ = true;
    if (stopped_) break;
    const Mark untried = mark();
    if (place(item) && solve(items)) return true;
    undo(untried);
    if (stopped_ || !postpone(item)) break;
  }
  open_.resize(top);
  undo(before);
  return false;
}

// By floor and rank, behind all other lists. Those above a gap that another item could fill are left out, and of twins
// all but the first.
std::size_t Ascent::list_candidates(Range items) {
  const std::size_t top = open_.size();
  std::int64_t gap = no_offset;
  for (std::size_t k = items.from; k < items.to; ++k)
    gap = std::min(gap, floors_[nth(open_[k])] + item_of(open_[k]).size);
  for (std::size_t k = items.from; k < items.to; ++k) {
    const int i = open_[k];
    if (floors_[nth(i)] >= gap || releases_[nth(i)] > floors_[nth(i)]) continue;
    if (before_[nth(i)] >= 0 && !placed_[nth(before_[nth(i)])]) continue;
    open_.push_back(i);
  }
  std::sort(open_.begin() + static_cast<std::ptrdiff_t>(top), open_.end(), [&](int a, int b) {
    if (floors_[nth(a)] != floors_[nth(b)]) return floors_[nth(a)] < floors_[nth(b)];
    return ranks_[nth(a)] < ranks_[nth(b)];
  });
  return open_.size();
}

bool Ascent::place(int item) {
  placed_[nth(item)] = 1;
  order_.push_back(item);
  const Item& one = item_of(item);
  const std::int64_t top = floors_[nth(item)] + one.size;
  for (int s = one.first; s < one.last; ++s) {
    sums_[nth(s)] -= one.size;
    if (holders_[nth(s)] != item || is_stale_[nth(s)]) continue;
    is_stale_[nth(s)] = 1;
    stale_.push_back(s);
  }
  bool fits = true;
  for (const int other : problem_.meets[nth(item)]) {
    if (placed_[nth(other)] || floors_[nth(other)] >= top) continue;
    const std::int64_t floor = aligned_up(top, item_of(other).alignment);
    lift(other, floor, std::max(floor, releases_[nth(other)]));
    fits = fits && releases_[nth(other)] <= capacity_ - item_of(other).size;
  }
  return look_again() && fits;
}

// Something that it meets must come to lie below it.
bool Ascent::postpone(int item) {
  std::int64_t top = no_offset;
  for (const int other : problem_.meets[nth(item)]) {
    if (!placed_[nth(other)]) top = std::min(top, releases_[nth(other)] + item_of(other).size);
  }
  if (top > capacity_ - item_of(item).size) return false;
  lift(item, floors_[nth(item)], aligned_up(top, item_of(item).alignment));
  return look_again();
}

void Ascent::lift(int item, std::int64_t floor, std::int64_t release) {
  items_.push_back({item, floors_[nth(item)], releases_[nth(item)]});
  floors_[nth(item)] = floor;
  if (release == releases_[nth(item)]) return;
  releases_[nth(item)] = release;
  for (int s = item_of(item).first; s < item_of(item).last; ++s) {
    if (holders_[nth(s)] != item || is_stale_[nth(s)]) continue;
    is_stale_[nth(s)] = 1;
    stale_.push_back(s);
  }
}

// Finds the lowest releases of sections where the item that had it was placed or lifted.
bool Ascent::look_again() {
  int failed = -1;
  for (const int s : stale_) {
    is_stale_[nth(s)] = 0;
    if (failed >= 0) continue;
    sections_.push_back({s, holders_[nth(s)], least_[nth(s)]});
    std::int64_t least = no_offset;
    int holder = -1;
    for (const int i : problem_.sections[nth(s)]) {
      if (placed_[nth(i)] || releases_[nth(i)] >= least) continue;
      least = releases_[nth(i)];
      holder = i;
    }
    least_[nth(s)] = least;
    holders_[nth(s)] = holder;
    if (holder >= 0 && least > capacity_ - sums_[nth(s)]) failed = s;
  }
  stale_.clear();
  if (failed < 0) return true;
  for (const int i : problem_.sections[nth(failed)]) {
    if (!placed_[nth(i)]) weights_[nth(i)] += failure_;
  }
  failure_ *= weight_growth;
  if (failure_ > heaviest) {
    for (double& weight : weights_) weight /= heaviest;
    failure_ = 1;
  }
  return false;
}

void Ascent::undo(const Mark& mark) {
  for (; sections_.size() > mark.sections; sections_.pop_back()) {
    const SectionChange& change = sections_.back();
    holders_[nth(change.section)] = change.holder;
    least_[nth(change.section)] = change.least;
  }
  for (; items_.size() > mark.items; items_.pop_back()) {
    const ItemChange& change = items_.back();
    floors_[nth(change.item)] = change.floor;
    releases_[nth(change.item)] = change.release;
  }
  for (; order_.size() > mark.placed; order_.pop_back()) {
    const int item = order_.back();
    placed_[nth(item)] = 0;
    for (int s = item_of(item).first; s < item_of(item).last; ++s) sums_[nth(s)] += item_of(item).size;
  }
}

}  // namespace kasen::packing
