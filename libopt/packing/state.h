// A partial packing within a capacity, and what follows from it.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "libopt/packing/problem.h"

namespace kasen::packing {

// Each item without a place has a release: no packing within the capacity that is still looked for has it lower. All
// else that is known of the items already placed is in the releases, so that they are the whole state.
class State {
 public:
  // Of the other items without a place that an item meets; `none` where there are none.
  struct Others {
    std::int64_t release = none;  // their lowest release
    std::int64_t top = none;      // their lowest release plus size
    int rivals =
        std::numeric_limits<int>::max();  // of its sections, the fewest items one of which must be lowest there
  };
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

  explicit State(const Problem& problem);

  void begin(std::int64_t capacity);

  // These return false where nothing within the capacity is left.
  [[nodiscard]] bool place(int item);  // at its release; all that it meets and that have no place are above it
  [[nodiscard]] bool raise(int item, std::int64_t release);
  [[nodiscard]] bool propagate();  // through all sections, while releases rise, up to a limit

  [[nodiscard]] std::size_t mark() const { return trail_.size(); }
  void undo(std::size_t mark);

  // As of the last propagate; what has changed since can only be higher.
  [[nodiscard]] Others others(int item) const;
  [[nodiscard]] std::int64_t release(int item) const { return at(item).release; }
  [[nodiscard]] bool is_placed(int item) const { return at(item).placed; }
  // Something without a place must be below it, since its lowest offset above what has a place was tried.
  [[nodiscard]] bool is_postponed(int item) const { return at(item).release > at(item).floor; }
  [[nodiscard]] std::int64_t slack(int section) const {
    return capacity_ - sections_[static_cast<std::size_t>(section)].end;
  }
  [[nodiscard]] double weight(int item) const { return at(item).weight; }  // grows with the failures that it is part of
  [[nodiscard]] Offsets offsets() const;

 private:
  struct Place {
    std::int64_t release = 0;
    std::int64_t floor = 0;  // the lowest offset above all that it meets and that have a place
    bool placed = false;
    double weight = 0;
  };
  struct Change {
    int item;
    Place before;
  };
  struct Section {
    std::vector<int> order;                                                 // its items; nearly by release
    std::vector<int> open;                                                  // those without a place, by release
    std::int64_t end = 0;                                                   // where the last of them ends at best
    std::int64_t low = none, next_low = none, top = none, next_top = none;  // the lowest, and second lowest
    int low_item = -1, top_item = -1;
    int rivals = 0;               // items that could be the lowest of the open ones
    std::int64_t last_first = 0;  // the highest release that such an item has
    bool stale = false;
  };

  [[nodiscard]] const Place& at(int item) const { return places_[static_cast<std::size_t>(item)]; }
  [[nodiscard]] Place& at(int item) { return places_[static_cast<std::size_t>(item)]; }
  [[nodiscard]] const Item& item_of(int item) const { return problem_.items[static_cast<std::size_t>(item)]; }
  void save(int item) { trail_.push_back({item, at(item)}); }
  void touch(int item);
  [[nodiscard]] bool look_at(Section& section);
  void list_open(Section& section);
  [[nodiscard]] bool measure(Section& section);
  [[nodiscard]] bool raise_those_not_first(Section& section);
  void find_lowest(Section& section);
  [[nodiscard]] bool fail(const std::vector<int>& items);

  const Problem& problem_;
  std::int64_t capacity_ = 0;
  std::vector<Place> places_;
  std::vector<Section> sections_;
  std::vector<int> stale_;
  std::vector<Change> trail_;
  std::vector<std::int64_t> rest_, top_, next_top_;  // scratch, by position in a section
  std::vector<int> top_at_;
  std::size_t looks_ = 0;  // at sections, in this propagate
  double failure_ = 1;     // weight of the next one
};

}  // namespace kasen::packing
