// Local search for a packing within a capacity, which ejects what is in the way.
#pragma once

#include <cstdint>
#include <optional>
#include <random>

#include "libopt/packing/problem.h"

namespace kasen::packing {

// Holds a partial packing. Each step places one item where those that it overlaps have been ejected least often, and
// ejects these (ejection with penalties, as Nagata and Braeysy do for routes of vehicles, Operations Research Letters
// 37(5), 2009). Goes on where it stopped.
class Repair {
 public:
  // Begins with what the offsets place below the capacity.
  Repair(const Problem& problem, std::int64_t capacity, const Offsets& start, unsigned seed);

  // At most so many placements; takes them off `steps`.
  [[nodiscard]] std::optional<Offsets> run(std::int64_t& steps);

 private:
  struct Placed {
    std::int64_t lower = 0, upper = 0, penalty = 0;
    int item = 0;
  };

  void place(int item);
  void list_placed(int item);
  void list_candidates(const Item& item);
  [[nodiscard]] std::int64_t cheapest(const Item& item);
  void eject_overlapped(std::int64_t lower, std::int64_t upper);

  const Problem& problem_;
  std::int64_t capacity_;
  Offsets offsets_;
  std::vector<std::int64_t> penalties_;  // by item: how often it was ejected
  std::vector<int> waiting_;             // items without a place
  std::vector<Placed> by_lower_, by_upper_;
  std::vector<std::int64_t> candidates_;
  std::mt19937 random_;
};

}  // namespace kasen::packing
