// What goes by when a step runs, and which arrays that the run makes may be on its disk. Internal to the executor.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "libcore/run/executor_steps.h"

namespace kasen::executor {

// Arrays that one pass over their rows uses. `at_once`: as stream::Passage; 0: they are needed whole.
struct ArrayPass {
  std::vector<stream::PassingUse> uses;
  std::int64_t at_once = 0;
};

// The arrays of a part that the operands and results of a step's operator are in.
[[nodiscard]] std::vector<stream::PassingUse> uses_of(const Execution& run, stream::PassingSet& set, const Op& op,
                                                      int part);
// The passes that a step makes, one after the other. A step that holds blocks binds names, and passes over what it
// copies when it begins and ends; its blocks' steps are others.
[[nodiscard]] std::vector<ArrayPass> passes_of(const Execution& run, stream::PassingSet& set, const Step& step,
                                               int part);
// Of a binding that copies an array of owned rows: the rows at a time; 0: it takes them whole.
[[nodiscard]] std::int64_t rows_of_copy(const Execution& run, ValueId from, ValueId to, int part);

// Buffers of owned rows that may go to the disk: by slot, a value that has it. Slots of one class exchange their
// memory: all of them go, or none, and as many rows of each stay.
struct PassingSlots {
  std::map<int, ValueId> values;
  std::vector<std::set<int>> classes;
};
[[nodiscard]] PassingSlots passing_slots(const Execution& run, const std::vector<Step*>& steps);

}  // namespace kasen::executor
