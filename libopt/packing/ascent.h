// Exact search that places items from the bottom up, with little work at each.
#pragma once

#include <cstdint>
#include <vector>

#include "libopt/packing/orders.h"
#include "libopt/packing/search.h"

namespace kasen::packing {

// Items are placed by rising offset, of equal offsets by rank. What was tried at an offset and failed must be lifted by
// something that is placed later. No item is placed above a gap that another one could fill. A section fails where the
// items without a place do not fit on top of the lowest offset that one of them may have. This is Moffitt's search
// (packing/search.h). It knows less than Search and is faster by far, so that it tries more.
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
  };
  struct SectionChange {
    int section, holder;
    std::int64_t least;
  };
  struct Mark {
    std::size_t items = 0, sections = 0, placed = 0;
  };

  void begin();
  void next_order();
  [[nodiscard]] bool solve(Range items);
  [[nodiscard]] bool solve_part(Range items);
  [[nodiscard]] std::size_t list_candidates(Range items);
  [[nodiscard]] bool place(int item);
  [[nodiscard]] bool postpone(int item);
  void lift(int item, std::int64_t floor, std::int64_t release);
  [[nodiscard]] bool look_again();
  [[nodiscard]] Mark mark() const { return {items_.size(), sections_.size(), order_.size()}; }
  void undo(const Mark& mark);
  [[nodiscard]] const Item& item_of(int item) const { return problem_.items[static_cast<std::size_t>(item)]; }

  const Problem& problem_;
  const std::vector<Ranks> orders_;
  std::int64_t capacity_ = 0, left_ = 0;
  bool stopped_ = false;
  int turn_ = 0;
  Ranks ranks_;
  std::vector<int> before_;  // by item: its twin that goes first, or -1
  // By item: the lowest offset above all that it meets and that have a place; the lowest that is still to try.
  Offsets floors_, releases_;
  std::vector<char> placed_;
  std::vector<double> weights_;  // by item: grows with the failures of its sections
  double failure_ = 1;
  // By section: the sizes of the items without a place; the lowest release of these, and the item that has it.
  std::vector<std::int64_t> sums_, least_;
  std::vector<int> holders_;
  std::vector<char> is_stale_;
  std::vector<int> stale_;
  // What to undo.
  std::vector<ItemChange> items_;
  std::vector<SectionChange> sections_;
  std::vector<int> order_;  // items in the order in which they were placed
  std::vector<int> open_;   // a stack of lists of items: those of a part by first section, and candidates
};

}  // namespace kasen::packing
