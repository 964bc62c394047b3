#include "libopt/packing/search.h"

#include <algorithm>
#include <array>
#include <utility>

namespace kasen::packing {
namespace {

constexpr std::size_t memory = std::size_t{1} << 20;  // failures that it remembers
constexpr std::int64_t first_nodes = 500;             // of a try before it starts again

constexpr int focuses = 3;
constexpr int rounds = 3;  // of conclusions at a node; there may be as many as a release has units

std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

// 1 1 2 1 1 2 4 1 1 2 ... (Luby, Sinclair and Zuckerman, Information Processing Letters 47, 1993)
std::int64_t luby(std::int64_t i) {
  std::int64_t power = 1;
  while (2 * power <= i + 1) power *= 2;
  return i + 1 == 2 * power - 1 ? power : luby(i + 1 - power);
}

}  // namespace

Search::Search(const Problem& problem) : problem_(problem), state_(problem), orders_(orders_of(problem)) {}

Verdict Search::run(std::int64_t capacity, std::int64_t& steps) {
  if (capacity != capacity_) {
    failures_.assign(1024, Key{});
    noted_ = 0;
  }
  capacity_ = capacity;
  Component all;
  for (int i = 0; i < problem_.size(); ++i) all.push_back(i);
  while (steps > 0) {
    const int turn = restarts_ / focuses, count = static_cast<int>(orders_.size());
    focus_ = static_cast<Focus>(restarts_++ % focuses);
    order_ = &orders_[static_cast<std::size_t>(turn % count)];
    const std::int64_t limit = std::min(steps, first_nodes * luby(turn));
    left_ = limit;
    stopped_ = false;
    state_.begin(capacity);
    const bool found = solve(all);
    steps -= limit - left_;
    if (found) offsets_ = state_.offsets();
    if (found || !stopped_) return found ? Verdict::found : Verdict::none;
  }
  return Verdict::unknown;
}

// Leaves the items placed where it succeeds, else the state as it was. An item that fails at its lowest offset lies
// above something that has no place yet.
bool Search::solve(const Component& component) {
  const std::size_t entry = state_.mark();
  Key key;
  const Outcome outcome = follow(component) ? branch(component, key) : Outcome::failed;
  if (outcome == Outcome::solved) return true;
  state_.undo(entry);
  if (outcome == Outcome::exhausted && !stopped_) note_failure(key);
  return false;
}

Search::Outcome Search::branch(const Component& component, Key& key) {
  std::vector<Component> parts = parts_of(component);
  if (parts.size() != 1) return solve_all(parts) ? Outcome::solved : Outcome::failed;
  const Component& open = parts[0];
  key = key_of(open);
  if (has_failed(key)) return Outcome::failed;
  while (!stopped_) {
    if (--left_ <= 0) stopped_ = true;
    const int item = choose(open);
    const std::int64_t above = state_.others(item).top;
    const std::size_t before = state_.mark();
    if (state_.place(item) && solve(open)) return Outcome::solved;
    state_.undo(before);
    if (stopped_ || !state_.raise(item, above) || !follow(open)) break;
    const bool smaller = std::any_of(open.begin(), open.end(), [&](int i) { return state_.is_placed(i); });
    if (!smaller) continue;
    if (solve(open)) return Outcome::solved;
    break;
  }
  return Outcome::exhausted;
}

// That with the least slack first.
bool Search::solve_all(std::vector<Component>& parts) {
  std::stable_sort(parts.begin(), parts.end(),
                   [&](const Component& a, const Component& b) { return least_slack(a) < least_slack(b); });
  return std::all_of(parts.begin(), parts.end(), [&](const Component& part) { return solve(part); });
}

// Draws all conclusions. An item that nothing can lie below, and next to which nothing else fits, is placed.
bool Search::follow(const Component& component) {
  bool changed = true;
  for (int round = 0; changed; ++round) {
    changed = false;
    if (!state_.propagate()) return false;
    if (round == rounds) return true;
    for (const int item : component) {
      if (state_.is_placed(item)) continue;
      const State::Others others = state_.others(item);
      if (state_.is_postponed(item)) {
        if (others.top <= state_.release(item)) continue;
        if (!state_.raise(item, others.top)) return false;
        changed = true;
      } else if (others.release >= state_.release(item) + problem_.items[static_cast<std::size_t>(item)].size) {
        if (!state_.place(item)) return false;
        changed = true;
      }
    }
  }
  return true;
}

// Of the items below which nothing without a place fits. The one of the lowest release always is one.
int Search::choose(const Component& component) const {
  int best = -1, fewest = 0;
  for (const int item : component) {
    const State::Others others = state_.others(item);
    if (others.top <= state_.release(item)) continue;
    if (best >= 0 && focus_ == Focus::rivals && others.rivals > fewest) continue;
    const bool fewer = focus_ == Focus::rivals && others.rivals < fewest;
    if (best >= 0 && !fewer && !is_before(item, best)) continue;
    best = item;
    fewest = others.rivals;
  }
  return best;
}

bool Search::is_before(int one, int other) const {
  if (focus_ == Focus::failures && state_.weight(one) != state_.weight(other))
    return state_.weight(one) > state_.weight(other);
  if (state_.release(one) != state_.release(other)) return state_.release(one) < state_.release(other);
  return (*order_)[static_cast<std::size_t>(one)] < (*order_)[static_cast<std::size_t>(other)];
}

std::vector<Search::Component> Search::parts_of(const Component& component) const {
  std::vector<Component> parts;
  int end = -1;
  for (const int i : component) {
    if (state_.is_placed(i)) continue;
    const Item& item = problem_.items[static_cast<std::size_t>(i)];
    if (item.first >= end) parts.emplace_back();
    parts.back().push_back(i);
    end = std::max(end, item.last);
  }
  return parts;
}

std::int64_t Search::least_slack(const Component& component) const {
  std::int64_t least = State::none;
  for (const int i : component) {
    const Item& item = problem_.items[static_cast<std::size_t>(i)];
    for (int s = item.first; s < item.last; ++s) least = std::min(least, state_.slack(s));
  }
  return least;
}

Search::Key Search::key_of(const Component& component) const {
  Key key;
  for (const int item : component) {
    const auto release = static_cast<std::uint64_t>(state_.release(item)) * 2 + state_.is_postponed(item);
    const std::uint64_t one = mixed(mixed(static_cast<std::uint64_t>(item)) ^ release);
    key.first ^= one;
    key.second += mixed(one ^ 0x2545f4914f6cdd1dU);
  }
  return key;
}

bool Search::has_failed(const Key& key) const { return failures_[key.first % failures_.size()] == key; }

void Search::note_failure(const Key& key) {
  if (++noted_ > failures_.size() && failures_.size() < memory) {
    std::vector<Key> larger(4 * failures_.size());
    for (const Key& one : failures_) larger[one.first % larger.size()] = one;
    failures_ = std::move(larger);
  }
  failures_[key.first % failures_.size()] = key;
}

}  // namespace kasen::packing
