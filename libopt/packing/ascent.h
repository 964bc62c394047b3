// Exact search that places items from the bottom up, with little work at each.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "libopt/packing/orders.h"
#include "libopt/packing/reasons.h"
#include "libopt/packing/search.h"

namespace kasen::packing {

// An item is placed at its lowest offset above all that lies there, or is lifted by something that is placed later. No
// item is placed above a gap that another one could fill. A section fails where the items without a place do not fit on
// top of the lowest offset that one of them may have. So far this is Moffitt's search (packing/search.h).
//
// Each conclusion has a reason: a set of items whose places imply it. A place that is no reason of a failure is not
// tried otherwise: the search goes back behind it ("conflict-directed backjumping": P. Prosser, Hybrid algorithms for
// the constraint satisfaction problem, Computational Intelligence 9(3), 1993). Failures at one time then do not repeat
// for all that can be done at other times.
//
// Of the items that may be next, the lowest goes first, and of these the one whose ends in time stand at walls, or
// whose top lies level with what is beside it: such places leave the fewest corners, of which each can waste memory.
//
// It concludes less than Search and is faster by far, so that it tries more.
class Ascent {
 public:
  explicit Ascent(const Problem& problem);

  // Takes placements off `steps`, at most all. Each call goes on with other orders.
  [[nodiscard]] Verdict run(std::int64_t capacity, std::int64_t& steps);
  [[nodiscard]] const Offsets& offsets() const { return floors_; }  // where it found a packing

 private:
  struct Range {  // of open_
    std::size_t from = 0, to = 0;
  };
  struct ItemChange {
    int item;
    std::int64_t floor, release;
    Reasons::Id why_floor, why_release;
  };
  struct SectionChange {
    int section, holder;
    std::int64_t least;
  };
  struct Mark {
    std::size_t items = 0, sections = 0, placed = 0, reasons = 0;
  };
  struct Group {  // items that begin below the gap, and overlap each other's time or are linked by those that do
    std::int64_t gap = 0;
    int first = 0, last = 0;  // sections
  };

  void begin();
  void next_order();
  void shuffle_ranks();
  [[nodiscard]] bool solve(Range items);
  [[nodiscard]] bool solve_part(Range items);
  [[nodiscard]] bool try_candidates(Range items, Range candidates);
  void list_candidates(Range items);
  [[nodiscard]] int touches(int item) const;
  [[nodiscard]] int lowest_of(Range items) const;
  [[nodiscard]] int lowest_in(Range items, int section) const;
  [[nodiscard]] int tightest_section(Range items) const;
  [[nodiscard]] int list_group(Range items, int item, std::size_t top);
  [[nodiscard]] bool place(int item);
  [[nodiscard]] bool postpone(int item);
  void lift(int item, std::int64_t floor, Reasons::Id why_floor, std::int64_t release, Reasons::Id why_release);
  [[nodiscard]] bool look_again();
  [[nodiscard]] Reasons::Id why_postponed(int item, std::int64_t top);
  void explain_group(const Group& group);
  void explain_section(int section);
  [[nodiscard]] Mark mark() const { return {items_.size(), sections_.size(), order_.size(), reasons_.count()}; }
  void undo(const Mark& mark);
  // Where an item ends at its floor: what begins there or above can leave it where it is.
  [[nodiscard]] std::int64_t gap_below(int item) const {
    return floors_[static_cast<std::size_t>(item)] + item_of(item).size;
  }
  [[nodiscard]] const Item& item_of(int item) const { return problem_.items[static_cast<std::size_t>(item)]; }

  const Problem& problem_;
  const std::vector<Ranks> orders_;
  std::int64_t capacity_ = 0, left_ = 0;
  bool stopped_ = false;
  int turn_ = 0;
  bool tightest_first_ = false;  // begins at the section with the least slack, not at the lowest gap
  Ranks ranks_;
  std::mt19937 random_{1};
  std::vector<int> before_;  // by item: its twin that goes first, or -1
  // By item: the lowest offset above all that it meets and that have a place; the lowest that is still to try.
  Offsets floors_, releases_;
  std::vector<char> placed_;
  // The items whose places imply a floor or release, and, after a failure, those that imply it.
  Reasons reasons_;
  std::vector<Reasons::Id> why_floor_, why_release_;
  Reasons::Id conflict_ = Reasons::none;
  Group group_;                  // of the candidates that were listed last
  std::vector<double> weights_;  // by item: grows with the failures of its sections
  double failure_ = 1;
  // By section: the sizes of the items without a place; the lowest release of these, and the item that has it.
  std::vector<std::int64_t> sums_, least_;
  std::vector<std::int64_t> tops_;  // the top of what has a place
  std::vector<int> holders_;
  std::vector<char> is_stale_;
  std::vector<int> stale_;
  // What to undo.
  std::vector<ItemChange> items_;
  std::vector<SectionChange> sections_;
  std::vector<int> order_;                 // items in the order in which they were placed
  std::vector<std::int64_t> tops_before_;  // of their sections
  std::vector<int> touches_;               // of the candidates
  std::vector<int> open_;  // a stack of lists of items: those of a part by first section, and candidates
};

}  // namespace kasen::packing
