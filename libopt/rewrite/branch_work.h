// The work of a likely branch that may run before it (passes/speculate_branch.cpp): the operators, in groups that touch
// common arrays, and the way they move.
#pragma once

#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

struct Branch {  // an `if` by its position
  Block* around = nullptr;
  size_t at = 0;
  [[nodiscard]] Op& op() const { return around->ops[at]; }
};

// Operators of a branch, by their results: they keep those when they move.
using BranchGroup = std::vector<ValueId>;

// Returns the `if` that makes `result`, then the likely one whose first branch holds it, and so on outwards. Empty if
// no `if` makes it.
[[nodiscard]] std::vector<Branch> branches_around(Module& module, ValueId result);

class BranchWork {
 public:
  // For the first branch of chain[0].
  BranchWork(const Module& module, const std::vector<Branch>& chain);

  // Returns the operators that may run before the branch, in groups that make or read one array. Only groups count that
  // touch an array which vector operators in a block around the branch touch: others can save nothing.
  [[nodiscard]] std::vector<BranchGroup> groups();
  // Drops values that vector operators read which stay in the branch, since these values would be stored for them.
  [[nodiscard]] BranchGroup without_stored(const BranchGroup& group) const;

 private:
  [[nodiscard]] bool moves(size_t i) const;
  void find();
  void connect();
  size_t root(size_t i);
  void join(size_t a, size_t b);
  [[nodiscard]] bool touches(const Op& op) const;
  [[nodiscard]] bool read_by(const std::vector<bool>& readers, ValueId v) const;

  const Module& m_;
  std::vector<const Block*> around_;
  const std::vector<Op>& ops_;
  std::vector<int> made_;  // by value: position in the branch, or -1
  std::vector<bool> movable_;
  std::vector<size_t> root_;  // of groups, by position
};

// Returns true if the group stands in the branch and needs nothing of it but generated values.
[[nodiscard]] bool may_leave(const Module& module, const Branch& branch, const BranchGroup& group);
// Moves the group before its branch, with copies of the generated values that it reads.
void leave(Module& module, const Branch& branch, const BranchGroup& group);

}  // namespace kasen
