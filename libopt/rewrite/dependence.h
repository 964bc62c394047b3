// Which operators of one block need which, and which may be drawn together without a cycle. Program order plays no
// part: the IR is in SSA form and its operators are pure, so values are the only dependences, those of nested blocks
// included.
#pragma once

#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

class BlockGraph {
 public:
  BlockGraph(const Module& module, const Block& block);

  [[nodiscard]] int size() const { return static_cast<int>(needs_.size()); }
  // The operators (places in the block) whose results operator `op` uses, ascending.
  [[nodiscard]] const std::vector<int>& needs(int op) const { return needs_[static_cast<size_t>(op)]; }
  [[nodiscard]] const std::vector<int>& needed_by(int op) const { return needed_by_[static_cast<size_t>(op)]; }
  // The arrays that it reads, ascending.
  [[nodiscard]] const std::vector<ValueId>& reads(int op) const { return reads_[static_cast<size_t>(op)]; }

 private:
  std::vector<std::vector<int>> needs_, needed_by_;
  std::vector<std::vector<ValueId>> reads_;
};

// What a clustering may do.
struct ClusterRules {
  std::vector<int> kinds;  // by operator: only equal ones that are not negative are drawn together
  // By operator: of two ranges only equal ones; -1, the masters alone, goes with any. What gains nothing but a loop has
  // one range.
  std::vector<int> ranges;
  // By operator: of its range it hands on what its operand has there, without computing. So it joins what computes and
  // has something in common with it.
  std::vector<bool> hands_on;
  bool inside = true;  // members of one cluster may need each other directly
};

// Clusters of at least two operators, each in program order; contracted to one operator each, the block has no cycle.
// Greedy and maximal: every operator joins, in program order, the first cluster that it may join (one that makes what
// it reads before one that reads what it reads), then clusters are merged as long as two may be, also where nothing is
// gained but a loop: what has nothing in common comes last, or it would keep apart what has.
[[nodiscard]] std::vector<std::vector<int>> cluster(const BlockGraph& graph, const ClusterRules& rules);

// A topological order of the block with each cluster contracted: as near to the program's order as can be. Gives for
// each place either an operator, or -1 - c for cluster c.
[[nodiscard]] std::vector<int> contracted_order(const BlockGraph& graph, const std::vector<std::vector<int>>& clusters);

}  // namespace kasen
