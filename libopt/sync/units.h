// Where the way of placing transitions may be chosen by itself. A unit is a region of the program: within one loop (or
// outside of all) the distributed values that element-wise operators, lists, branches and what a turn hands to the
// next connect. Products end it: their vector stands in one unit, their result in another, or in the same by another
// way.
#pragma once

#include <string>
#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

struct SyncUnit {
  Location loop;                   // of the loop that holds it; line 0: outside of all loops
  std::vector<std::string> names;  // of its values, in program order
  std::vector<int> lines;          // of the statements that make them, ascending
};

class SyncUnits {
 public:
  explicit SyncUnits(const Module& module);  // level 1

  [[nodiscard]] int count() const { return static_cast<int>(units_.size()); }
  [[nodiscard]] const SyncUnit& unit(int number) const { return units_[static_cast<size_t>(number)]; }
  // The value's unit, or -1: no transition depends on how it is placed.
  [[nodiscard]] int of(ValueId value) const { return of_[static_cast<size_t>(value)]; }

 private:
  std::vector<SyncUnit> units_;
  std::vector<int> of_;
};

}  // namespace kasen
