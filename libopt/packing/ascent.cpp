#include "libopt/packing/ascent.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace kasen::packing {
namespace {

constexpr std::int64_t no_offset = std::numeric_limits<std::int64_t>::max();
constexpr int same_limit = 14, most_doublings = 20;  // tries in other orders before they get twice the placements
constexpr int calm_turns = 28, looseness = 30;  // in later turns an item may move back by so many per cent of the items
constexpr double weight_growth = 1.01, heaviest = 1e100;

std::size_t nth(int item) { return static_cast<std::size_t>(item); }

}  // namespace

Ascent::Ascent(const Problem& problem)
    : problem_(problem),
      orders_(orders_of(problem)),
      before_(problem.items.size(), -1),
      reasons_(problem.items.size()),
      why_floor_(problem.items.size(), Reasons::none),
      why_release_(problem.items.size(), Reasons::none),
      conflict_(reasons_.push()),
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

// The known orders in turn; each also behind what failed most often so far. Later they are shuffled a little.
void Ascent::next_order() {
  const int count = static_cast<int>(orders_.size());
  tightest_first_ = turn_ / 2 % 2 == 1;
  ranks_ = orders_[nth((turn_ / 2) % count)];
  if (turn_ >= calm_turns) shuffle_ranks();
  if (turn_ % 2 == 0) return;
  std::vector<int> order(ranks_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    if (weights_[nth(a)] != weights_[nth(b)]) return weights_[nth(a)] > weights_[nth(b)];
    return ranks_[nth(a)] < ranks_[nth(b)];
  });
  ranks_ = in_order(order);
}

void Ascent::shuffle_ranks() {
  const std::int64_t range = std::int64_t{looseness} * problem_.size();
  std::vector<std::pair<std::int64_t, int>> keys;
  for (int i = 0; i < problem_.size(); ++i)
    keys.emplace_back(std::int64_t{100} * ranks_[nth(i)] + static_cast<std::int64_t>(random_()) % range, i);
  std::sort(keys.begin(), keys.end());
  for (std::size_t k = 0; k < keys.size(); ++k) ranks_[nth(keys[k].second)] = static_cast<int>(k);
}

void Ascent::begin() {
  const std::size_t count = problem_.items.size(), sections = problem_.sections.size();
  floors_.assign(count, 0);
  releases_.assign(count, 0);
  placed_.assign(count, 0);
  why_floor_.assign(count, Reasons::none);
  why_release_.assign(count, Reasons::none);
  reasons_.cut(conflict_ + 1);
  sums_.assign(sections, 0);
  tops_.assign(sections, 0);
  tops_before_.clear();
  touches_.assign(count, 0);
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
  list_candidates(items);
  if (try_candidates(items, {top, open_.size()})) return true;
  open_.resize(top);
  undo(before);
  return false;
}

// Where an item is no part of the conflict at its lowest place, the conflict stays wherever that item lies.
bool Ascent::try_candidates(Range items, Range candidates) {
  const Group group = group_;
  for (std::size_t k = candidates.from; k < candidates.to; ++k) {
    const int item = open_[k];
    if (--left_ <= 0) stopped_ = true;
    if (stopped_) return false;
    const Mark untried = mark();
    if (place(item) && solve(items)) return true;
    undo(untried);
    if (stopped_ || !reasons_.has(conflict_, item) || !postpone(item)) return false;
  }
  explain_group(group);
  return false;
}

// By floor, touches and rank, behind all other lists: those of a group around the lowest of a valley.
void Ascent::list_candidates(Range items) {
  const std::size_t top = open_.size();
  int lowest = tightest_first_ ? lowest_in(items, tightest_section(items)) : lowest_of(items);
  for (int before = -1; before != lowest;) {
    before = lowest;
    lowest = list_group(items, lowest, top);
  }
  for (std::size_t k = top; k < open_.size(); ++k) touches_[nth(open_[k])] = touches(open_[k]);
  std::sort(open_.begin() + static_cast<std::ptrdiff_t>(top), open_.end(), [&](int a, int b) {
    if (floors_[nth(a)] != floors_[nth(b)]) return floors_[nth(a)] < floors_[nth(b)];
    if (touches_[nth(a)] != touches_[nth(b)]) return touches_[nth(a)] > touches_[nth(b)];
    return ranks_[nth(a)] < ranks_[nth(b)];
  });
}

// Walls at the ends of an item at its floor, and places beside it that lie level with its top.
int Ascent::touches(int item) const {
  const std::int64_t floor = floors_[nth(item)];
  const auto at = [&](int s) {
    if (s < 0 || s >= static_cast<int>(tops_.size())) return 1;
    return (tops_[nth(s)] > floor) + (tops_[nth(s)] == gap_below(item));
  };
  return at(item_of(item).first - 1) + at(item_of(item).last);
}

// The item that ends first at its floor.
int Ascent::lowest_of(Range items) const {
  int lowest = open_[items.from];
  for (std::size_t k = items.from; k < items.to; ++k) {
    if (gap_below(open_[k]) < gap_below(lowest)) lowest = open_[k];
  }
  return lowest;
}

int Ascent::lowest_in(Range items, int section) const {
  int lowest = -1;
  for (std::size_t k = items.from; k < items.to; ++k) {
    const Item& item = item_of(open_[k]);
    if (item.first > section || item.last <= section) continue;
    if (lowest < 0 || gap_below(open_[k]) < gap_below(lowest)) lowest = open_[k];
  }
  return lowest;
}

// Where the least memory can be wasted; of equal ones, the lowest.
int Ascent::tightest_section(Range items) const {
  int end = 0, tightest = -1;
  for (std::size_t k = items.from; k < items.to; ++k) end = std::max(end, item_of(open_[k]).last);
  const auto key = [&](int s) { return std::pair(-least_[nth(s)] - sums_[nth(s)], least_[nth(s)]); };
  for (int s = item_of(open_[items.from]).first; s < end; ++s) {
    if (holders_[nth(s)] >= 0 && (tightest < 0 || key(s) < key(tightest))) tightest = s;
  }
  return tightest;
}

// An item lies at its floor, or something begins below the top that it would have there. So one of the items that begin
// below this gap is next: of those that overlap it in time, directly or through each other. They are listed, but for
// those that were tried, and of twins all but the first. Returns the one of the group that ends first at its floor. If
// that is the item itself, nothing else fits below one of the list.
int Ascent::list_group(Range items, int item, std::size_t top) {
  const std::int64_t gap = gap_below(item);
  int lowest = item, end = 0;
  for (std::size_t k = items.from; k < items.to; ++k) {
    const int i = open_[k];
    if (floors_[nth(i)] >= gap) continue;
    if (item_of(i).first >= end) {
      if (item_of(item).first < end) break;
      open_.resize(top);
      lowest = item;
      group_.first = item_of(i).first;
    }
    end = std::max(end, item_of(i).last);
    if (gap_below(i) < gap_below(lowest)) lowest = i;
    if (releases_[nth(i)] > floors_[nth(i)]) continue;
    if (before_[nth(i)] >= 0 && !placed_[nth(before_[nth(i)])]) continue;
    open_.push_back(i);
  }
  group_.gap = gap;
  group_.last = end;
  return lowest;
}

bool Ascent::place(int item) {
  placed_[nth(item)] = 1;
  order_.push_back(item);
  const Item& one = item_of(item);
  const std::int64_t top = floors_[nth(item)] + one.size;
  for (int s = one.first; s < one.last; ++s) {
    sums_[nth(s)] -= one.size;
    tops_before_.push_back(tops_[nth(s)]);
    tops_[nth(s)] = top;
    if (holders_[nth(s)] != item || is_stale_[nth(s)]) continue;
    is_stale_[nth(s)] = 1;
    stale_.push_back(s);
  }
  const Reasons::Id why = reasons_.push();
  reasons_.add_all(why, why_floor_[nth(item)]);
  reasons_.add(why, item);
  bool fits = true;
  for (const int other : problem_.meets[nth(item)]) {
    if (placed_[nth(other)] || floors_[nth(other)] >= top) continue;
    const std::int64_t floor = aligned_up(top, item_of(other).alignment);
    if (floor > releases_[nth(other)])
      lift(other, floor, why, floor, why);
    else
      lift(other, floor, why, releases_[nth(other)], why_release_[nth(other)]);
    fits = fits && floor <= capacity_ - item_of(other).size;
  }
  if (!look_again()) return false;
  if (fits) return true;
  reasons_.clear(conflict_);
  reasons_.add_all(conflict_, why);
  return false;
}

// Something that it meets must come to lie below it.
bool Ascent::postpone(int item) {
  std::int64_t top = no_offset;
  for (const int other : problem_.meets[nth(item)]) {
    if (!placed_[nth(other)]) top = std::min(top, releases_[nth(other)] + item_of(other).size);
  }
  const Reasons::Id why = why_postponed(item, top);
  if (top > capacity_ - item_of(item).size) {
    reasons_.clear(conflict_);
    reasons_.add_all(conflict_, why);
    return false;
  }
  lift(item, floors_[nth(item)], why_floor_[nth(item)], aligned_up(top, item_of(item).alignment), why);
  return look_again();
}

// The conflict at its floor; and that all others have a place, or end at `top` or above.
Reasons::Id Ascent::why_postponed(int item, std::int64_t top) {
  const Reasons::Id why = reasons_.push();
  reasons_.add_all(why, conflict_);
  reasons_.remove(why, item);
  reasons_.add_all(why, why_floor_[nth(item)]);
  for (const int other : problem_.meets[nth(item)]) {
    const std::int64_t size = item_of(other).size;
    if (placed_[nth(other)])
      reasons_.add(why, other);
    else if (size < top)
      reasons_.add_all(why, floors_[nth(other)] + size >= top ? why_floor_[nth(other)] : why_release_[nth(other)]);
  }
  return why;
}

// Why none of a group can be next: each was tried, and the others of its time have a place or begin above the gap.
void Ascent::explain_group(const Group& group) {
  reasons_.clear(conflict_);
  for (int i = 0; i < problem_.size() && item_of(i).first < group.last; ++i) {
    if (item_of(i).last <= group.first) continue;
    if (placed_[nth(i)])
      reasons_.add(conflict_, i);
    else
      reasons_.add_all(conflict_, floors_[nth(i)] >= group.gap ? why_floor_[nth(i)] : why_release_[nth(i)]);
  }
}

// Why all of them are at least as high as the lowest.
void Ascent::explain_section(int section) {
  reasons_.clear(conflict_);
  for (const int i : problem_.sections[nth(section)]) {
    if (placed_[nth(i)]) continue;
    const bool above = floors_[nth(i)] >= least_[nth(section)];
    reasons_.add_all(conflict_, above ? why_floor_[nth(i)] : why_release_[nth(i)]);
  }
}

void Ascent::lift(int item, std::int64_t floor, Reasons::Id why_floor, std::int64_t release, Reasons::Id why_release) {
  items_.push_back({item, floors_[nth(item)], releases_[nth(item)], why_floor_[nth(item)], why_release_[nth(item)]});
  floors_[nth(item)] = floor;
  why_floor_[nth(item)] = why_floor;
  why_release_[nth(item)] = why_release;
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
  explain_section(failed);
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
  reasons_.cut(mark.reasons);
  for (; sections_.size() > mark.sections; sections_.pop_back()) {
    const SectionChange& change = sections_.back();
    holders_[nth(change.section)] = change.holder;
    least_[nth(change.section)] = change.least;
  }
  for (; items_.size() > mark.items; items_.pop_back()) {
    const ItemChange& change = items_.back();
    floors_[nth(change.item)] = change.floor;
    releases_[nth(change.item)] = change.release;
    why_floor_[nth(change.item)] = change.why_floor;
    why_release_[nth(change.item)] = change.why_release;
  }
  for (; order_.size() > mark.placed; order_.pop_back()) {
    const int item = order_.back();
    placed_[nth(item)] = 0;
    for (int s = item_of(item).last; s-- > item_of(item).first; tops_before_.pop_back()) {
      sums_[nth(s)] += item_of(item).size;
      tops_[nth(s)] = tops_before_.back();
    }
  }
}

}  // namespace kasen::packing
