// The operators of a block as the greedy selector joins them: first each alone, then those of one region together.
#pragma once

#include <initializer_list>
#include <optional>
#include <vector>

#include "libopt/fusion/from_module.h"
#include "libopt/fusion/memo.h"
#include "libopt/rewrite/dependence.h"
#include "libopt/rewrite/regions.h"
#include "libopt/selection/operator_cost.h"

namespace kasen::fusion {

struct Unit {
  std::vector<int> places;                    // of its operators in the block, ascending
  std::vector<const Op*> ops;                 // the same
  std::optional<RegionKind> kind;             // nothing: a single operator
  std::vector<ValueId> made, reads, results;  // by its operators, by them from outside, and what is needed outside
};

class Units {
 public:
  // All of these stay as they are while the units exist.
  Units(const Module& module, const BlockDag& block, const Memo& memo);

  [[nodiscard]] const Module& module() const { return module_; }
  [[nodiscard]] int size() const { return graph_.size(); }
  [[nodiscard]] const Unit& operator[](int unit) const { return units_[static_cast<size_t>(unit)]; }
  [[nodiscard]] const BlockGraph& graph() const { return graph_; }
  // Returns true if each of its operators has an entry of one of these templates.
  [[nodiscard]] bool is_covered(int unit, std::initializer_list<TemplateId> templates) const;

  // Makes one unit of the members of each cluster. All units may get other numbers.
  void join(const std::vector<Cluster>& clusters);

  // Returns the units as operators of a plan, without those of operators that are no nodes of the block's DAG.
  [[nodiscard]] std::vector<PlanOperator> operators() const;

 private:
  [[nodiscard]] Unit unit_of(std::vector<int> places, std::optional<RegionKind> kind) const;
  void add_views(std::vector<NodeId>& members) const;
  [[nodiscard]] NodeId node_at(int place) const { return nodes_[static_cast<size_t>(place)]; }

  const Module& module_;
  const BlockDag& block_;
  const Memo& memo_;
  std::vector<int> uses_;      // by value, in the whole module
  std::vector<NodeId> nodes_;  // by place; no_node: no template covers it
  std::vector<Unit> units_;
  BlockGraph graph_;
};

}  // namespace kasen::fusion
