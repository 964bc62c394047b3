// The parts of a program with a mode of their own for placing transitions. A unit lies within one loop (or outside of
// all). It holds the distributed values that element-wise operators, lists, branches and carried values connect.
// Products end it: their vector is in one unit, their result in another, or in the same along another path.
#pragma once

#include <string>
#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

struct SyncUnit {
  Location loop;                   // the loop that holds it; line 0: outside of all loops
  std::vector<std::string> names;  // the names of its values, in program order
  std::vector<int> lines;          // the lines of the statements that make them, ascending
};

class SyncUnits {
 public:
  explicit SyncUnits(const Module& module);  // for level 1

  [[nodiscard]] int count() const { return static_cast<int>(units_.size()); }
  [[nodiscard]] const SyncUnit& unit(int number) const { return units_[static_cast<size_t>(number)]; }
  // Returns the value's unit, or -1 if no transition depends on its placement.
  [[nodiscard]] int of(ValueId value) const { return of_[value]; }

 private:
  std::vector<SyncUnit> units_;
  IdMap<ValueId, int> of_;
};

}  // namespace kasen
