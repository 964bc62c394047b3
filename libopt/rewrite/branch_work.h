// The work of a likely branch that may be done before it (passes/speculate_branch.cpp): which operators, in groups of
// those that touch common arrays, and how they move.
#pragma once

#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

struct Branch {  // an `if` by its place
  Block* around = nullptr;
  size_t at = 0;
  [[nodiscard]] Op& op() const { return around->ops[at]; }
};

// Operators of a branch by their results: they keep those when they move.
using BranchGroup = std::vector<ValueId>;

// The `if` that makes `result`, then the likely one in whose first branch it stands, and so on outwards. Empty if no
// `if` makes it.
[[nodiscard]] std::vector<Branch> branches_around(Module& module, ValueId result);

class BranchWork {
 public:
  // Of the first branch of chain[0].
  BranchWork(const Module& module, const std::vector<Branch>& chain);

  // What may be computed before the branch, in groups of operators that make or read one array; those that touch an
  // array which vector operators in a block around the branch touch: others can save nothing.
  [[nodiscard]] std::vector<BranchGroup> groups();
  // Without what vector operators read that stay in the branch: that would be stored for them.
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
  std::vector<int> made_;  // by value: place in the branch, or -1
  std::vector<bool> movable_;
  std::vector<size_t> root_;  // of groups, by place
};

// Does the group stand in the branch, and need nothing of it but generated values?
[[nodiscard]] bool may_leave(const Module& module, const Branch& branch, const BranchGroup& group);
// Moves the group before its branch, with copies of the generated values that it reads.
void leave(Module& module, const Branch& branch, const BranchGroup& group);

}  // namespace kasen
