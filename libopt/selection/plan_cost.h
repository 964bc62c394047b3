// The cost of a plan: an assignment of true or false to the interesting points of a partition (Boehm et al., section
// 4.3).
#pragma once

#include <cstdint>
#include <vector>

#include "libopt/fusion/partition.h"
#include "libopt/selection/operator_cost.h"

namespace kasen::fusion {

// One value for each point of the partition, in its order.
using Assignment = std::vector<char>;

// A partition, or a part of it whose choices touch no other's: its nodes, and those of them that are always in memory
// after it.
struct Scope {
  std::vector<char> inside;  // by node of the DAG
  std::vector<NodeId> tops;
};

class PlanCoster {
 public:
  PlanCoster(const Dag& dag, const Memo& memo, const Partition& partition, const CostRules& rules);

  [[nodiscard]] const Scope& whole() const { return whole_; }
  // Returns the sum over all operators. It stops as soon as it reaches `bound`, with `bound` or more (partial costing).
  [[nodiscard]] double cost(const Assignment& plan, const Scope& scope, double bound = unlimited);
  // Returns the operators of that plan, in the order in which they are opened.
  [[nodiscard]] std::vector<PlanOperator> operators(const Assignment& plan, const Scope& scope);

 private:
  static constexpr int unknown = -2, none = -1;
  struct Candidate {
    TemplateId type;
    Close close;
    std::vector<NodeId> refs;      // by input
    std::vector<NodeId> distinct;  // the same, each once
    std::vector<int> points;       // points that must be false
    bool opens;                    // its template may begin here
  };
  struct Visit {
    NodeId node;
    int candidate;
  };

  [[nodiscard]] int choose(const Assignment& plan, NodeId node, std::optional<TemplateId> within);
  [[nodiscard]] bool fits(const Assignment& plan, const Candidate& candidate, std::optional<TemplateId> within);
  [[nodiscard]] bool goes_over_another(const PlanOperator& op, NodeId node);
  [[nodiscard]] PlanOperator open(const Assignment& plan, NodeId root);
  void add_inputs(const Assignment& plan, const Visit& visit, PlanOperator& op, std::vector<Visit>& waiting);
  template <class Take>
  void each_operator(const Assignment& plan, const Scope& scope, Take take);

  const Dag& dag_;
  const CostRules& rules_;
  Scope whole_;
  std::vector<std::vector<Candidate>> candidates_;  // by node, the preferred one first
  std::vector<int> chosen_;                         // by node and context (slot), for this plan
  std::vector<int> opened_, covered_, read_;        // by node: the plan or the operator that did it last
  int plan_number_ = 0, operator_number_ = 0;
  NodeId matrix_ = no_node;  // the sparse one that the operator goes over
};

}  // namespace kasen::fusion
