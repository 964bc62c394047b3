#include "libopt/packing/state.h"

#include <algorithm>

namespace kasen::packing {
namespace {

constexpr double growth = 1.02, most_weight = 1e100;
constexpr std::size_t most_looks = 2;  // at each section, on average

}  // namespace

State::State(const Problem& problem) : problem_(problem), places_(problem.items.size()) {
  for (const std::vector<int>& items : problem.sections) {
    sections_.emplace_back();
    sections_.back().order = items;
  }
}

void State::begin(std::int64_t capacity) {
  capacity_ = capacity;
  trail_.clear();
  stale_.clear();
  for (Section& section : sections_) section.stale = false;
  for (int i = 0; i < problem_.size(); ++i) {
    const double weight = at(i).weight;
    at(i) = Place{};
    at(i).weight = weight;
    touch(i);
  }
  for (int i = 0; i < problem_.size(); ++i) {
    const Item& item = item_of(i);
    if (item.twin < 0) continue;
    at(item.twin).release = aligned_up(at(i).release + item.size, item.alignment);
  }
}

void State::touch(int item) {
  for (int s = item_of(item).first; s < item_of(item).last; ++s) {
    Section& section = sections_[static_cast<std::size_t>(s)];
    if (section.stale) continue;
    section.stale = true;
    stale_.push_back(s);
  }
}

void State::undo(std::size_t mark) {
  for (; trail_.size() > mark; trail_.pop_back()) {
    const Change& change = trail_.back();
    const double weight = at(change.item).weight;
    at(change.item) = change.before;
    at(change.item).weight = weight;
    touch(change.item);
  }
}

bool State::place(int item) {
  save(item);
  touch(item);
  at(item).placed = true;
  at(item).floor = at(item).release;
  const std::int64_t top = at(item).release + item_of(item).size;
  for (const int other : problem_.meets[static_cast<std::size_t>(item)]) {
    if (at(other).placed) continue;
    const std::int64_t floor = aligned_up(top, item_of(other).alignment);
    if (floor <= at(other).floor) continue;
    save(other);
    at(other).floor = floor;
    if (!raise(other, floor)) return false;
  }
  return true;
}

// Twins are placed in their order.
bool State::raise(int item, std::int64_t release) {
  const Item& raised = item_of(item);
  if (release > capacity_ - raised.size) return fail({item});
  release = aligned_up(release, raised.alignment);
  if (release <= at(item).release) return true;
  if (release > capacity_ - raised.size) return fail({item});
  save(item);
  at(item).release = release;
  touch(item);
  return raised.twin < 0 || at(raised.twin).placed || raise(raised.twin, release + raised.size);
}

// Releases may rise a unit at a time, so after some looks items that are not first stay as they are.
bool State::propagate() {
  looks_ = 0;
  while (!stale_.empty()) {
    const int s = stale_.back();
    stale_.pop_back();
    Section& section = sections_[static_cast<std::size_t>(s)];
    section.stale = false;
    if (look_at(section)) continue;
    if (!section.stale) stale_.push_back(s);
    section.stale = true;
    return false;
  }
  return true;
}

bool State::look_at(Section& section) {
  ++looks_;
  list_open(section);
  find_lowest(section);
  return measure(section) && raise_those_not_first(section);
}

void State::list_open(Section& section) {
  std::vector<int>& order = section.order;
  for (std::size_t i = 1; i < order.size(); ++i) {
    const int item = order[i];
    const std::int64_t release = at(item).release;
    std::size_t j = i;
    for (; j > 0 && at(order[j - 1]).release > release; --j) order[j] = order[j - 1];
    order[j] = item;
  }
  section.open.clear();
  for (const int item : order) {
    if (!at(item).placed) section.open.push_back(item);
  }
}

// The stack of the open items in order of release is the lowest.
bool State::measure(Section& section) {
  section.end = 0;
  for (const int item : section.open) section.end = std::max(section.end, at(item).release) + item_of(item).size;
  return section.end <= capacity_ || fail(section.open);
}

// An item is not below all of those from some position on, if they do not fit on top of it: then the lowest top of the
// others there is below it ("not first": Baptiste, Le Pape and Nuijten, Constraint-Based Scheduling, 2001,
// section 2.1).
bool State::raise_those_not_first(Section& section) {
  const std::vector<int>& open = section.open;
  const std::size_t count = open.size();
  std::int64_t sum = 0;
  for (const int item : open) sum += item_of(item).size;
  section.last_first = capacity_ - sum;
  section.rivals = static_cast<int>(count);
  if (open.empty() || at(open.back()).release <= section.last_first || looks_ > most_looks * sections_.size())
    return true;
  rest_.assign(count + 1, 0);
  top_.assign(count + 1, none);
  next_top_.assign(count + 1, none);
  top_at_.assign(count + 1, -1);
  for (std::size_t k = count; k-- > 0;) {
    const std::int64_t size = item_of(open[k]).size, top = at(open[k]).release + size;
    rest_[k] = rest_[k + 1] + size;
    const bool lower = top < top_[k + 1];
    top_[k] = lower ? top : top_[k + 1];
    top_at_[k] = lower ? open[k] : top_at_[k + 1];
    next_top_[k] = lower ? top_[k + 1] : std::min(top, next_top_[k + 1]);
  }
  section.rivals = 0;
  for (const int item : open) section.rivals += at(item).release <= section.last_first;
  std::size_t from = 0;  // the last position whose rest does not fit on top of the floor of k
  for (std::size_t k = 0; k < count; ++k) {
    const std::int64_t space = capacity_ - at(open[k]).release;
    while (from < k && rest_[from + 1] > space) ++from;
    if (rest_[from] <= space) continue;
    if (!raise(open[k], top_at_[from] == open[k] ? next_top_[from] : top_[from])) return false;
  }
  return true;
}

void State::find_lowest(Section& section) {
  section.low = section.next_low = section.top = section.next_top = none;
  section.low_item = section.top_item = -1;
  if (!section.open.empty()) {
    section.low_item = section.open[0];
    section.low = at(section.low_item).release;
    if (section.open.size() > 1) section.next_low = at(section.open[1]).release;
  }
  for (const int item : section.open) {
    const std::int64_t top = at(item).release + item_of(item).size;
    if (top < section.top) {
      section.next_top = section.top;
      section.top = top;
      section.top_item = item;
    } else {
      section.next_top = std::min(section.next_top, top);
    }
  }
}

State::Others State::others(int item) const {
  Others lowest;
  for (int s = item_of(item).first; s < item_of(item).last; ++s) {
    const Section& section = sections_[static_cast<std::size_t>(s)];
    lowest.release = std::min(lowest.release, section.low_item == item ? section.next_low : section.low);
    lowest.top = std::min(lowest.top, section.top_item == item ? section.next_top : section.top);
    if (at(item).release <= section.last_first) lowest.rivals = std::min(lowest.rivals, section.rivals);
  }
  return lowest;
}

Offsets State::offsets() const {
  Offsets offsets;
  for (const Place& place : places_) offsets.push_back(place.release);
  return offsets;
}

bool State::fail(const std::vector<int>& items) {
  for (const int item : items) at(item).weight += failure_;
  failure_ *= growth;
  if (failure_ > most_weight) {
    for (Place& place : places_) place.weight /= most_weight;
    failure_ = 1;
  }
  return false;
}

}  // namespace kasen::packing
