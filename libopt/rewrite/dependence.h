// The dependences of operators in one block, and the clusters that they may form without a cycle. Program order plays
// no part: the IR is in SSA form and its operators are pure. So values are the only dependences, those of nested blocks
// included.
#pragma once

#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

class BlockGraph {
 public:
  BlockGraph(const Module& module, const Block& block);
  // Returns the graph of units that stand for some operators each. Every operator is in one unit, and they are in an
  // order in which none needs a later one (contracted_order).
  [[nodiscard]] BlockGraph contracted(const std::vector<std::vector<int>>& units) const;

  [[nodiscard]] int size() const { return static_cast<int>(needs_.size()); }
  // Returns the operators (positions in the block) whose results operator `op` uses, ascending.
  [[nodiscard]] const std::vector<int>& needs(int op) const { return needs_[static_cast<size_t>(op)]; }
  [[nodiscard]] const std::vector<int>& needed_by(int op) const { return needed_by_[static_cast<size_t>(op)]; }
  // Returns the arrays that it reads, ascending.
  [[nodiscard]] const std::vector<ValueId>& reads(int op) const { return reads_[static_cast<size_t>(op)]; }

 private:
  BlockGraph() = default;
  std::vector<std::vector<int>> needs_, needed_by_;
  std::vector<std::vector<ValueId>> reads_;
};

// The limits of a clustering.
struct ClusterRules {
  std::vector<int> kinds;  // by operator: only operators with one kind, not negative, form a cluster
  // By operator: different ranges do not join, but -1, owned elements alone, joins any. A cluster that gains nothing
  // but a loop has one range.
  std::vector<int> ranges;
  // By operator: whether it hands on its operand's values in its range without computing. Such an operator joins one
  // that computes and has something in common with it.
  std::vector<bool> hands_on;
  bool inside = true;  // members of one cluster may need each other directly
};

// Returns clusters of at least two operators, each in program order. If each is contracted to one operator, the block
// has no cycle. The method is greedy and maximal. In program order, every operator joins the first cluster that it may
// join: a maker of its operands before a reader of the same. Then clusters are merged while two may be, also where
// nothing is gained but a loop. Those without anything in common come last, or they would separate others that have
// something.
[[nodiscard]] std::vector<std::vector<int>> cluster(const BlockGraph& graph, const ClusterRules& rules);

// Returns a topological order of the block with each cluster contracted, as near to program order as possible: a
// cluster stands where its first listed member stood, or behind. Each position has either an operator, or -1 - c for
// cluster c.
[[nodiscard]] std::vector<int> contracted_order(const BlockGraph& graph, const std::vector<std::vector<int>>& clusters);

}  // namespace kasen
