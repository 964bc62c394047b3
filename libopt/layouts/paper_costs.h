// The tiling graph of a program with Spartan's own costs (Huang et al., USENIX ATC 2015, section 3.2), made precise:
// they count what an operator reads whole or from elsewhere, not what travels. For comparisons; actual costs decide
// (from_module.h).
//
// Layouts of an array: cut along one of its dimensions over all workers (rows, columns), blocks of its first two over a
// mesh of two axes, or D: two layouts at once. |A| are its bytes, p the workers:
//   a new array   0; D: |A| once
//   map           |in| for each input that is neither cut as the output nor D; so is a contraction that sums nothing
//   reduction     0 if no reduced dimension is cut, or the input is D; else |in|
//   view          0, and decides the other side's layout
//   product of X and Y, form a   |X| unless cut along a kept dimension, or D; p |Y| unless D; |Z| unless cut as X
//                       form b   |X| and |Y| unless cut along a summed dimension, or D; p |Z|, and |Z| more if Z is D
//   loop, branch  as a map
#pragma once

#include <map>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/layouts/cut_rules.h"
#include "libopt/layouts/moves.h"
#include "libopt/layouts/problem.h"
#include "libopt/tiling/graph.h"

namespace kasen {

class PaperProblem : public LayoutProblem {
 public:
  // As for TilingProblem (from_module.h); `budget`: D counts, as bytes on a worker.
  PaperProblem(const Module& sized, const std::map<ValueId, Cuts>& fixed, bool budget);

  [[nodiscard]] const Module& module() const override { return m_; }
  [[nodiscard]] const tiling::Graph& graph() const override { return graph_; }
  [[nodiscard]] ValueId array(tiling::VariableId id) const override { return arrays_[id]; }
  [[nodiscard]] Cuts cuts(tiling::VariableId id, std::size_t choice) const override {
    return choices_[id].at(choice).cuts;
  }
  [[nodiscard]] int op(std::size_t factor) const override { return ops_.at(factor); }
  [[nodiscard]] TilingDecisions decisions(const tiling::Assignment& choices) const override;

 private:
  struct Choice {
    Cuts cuts;  // of D: the first of the two
    bool both = false;
  };

  void make_variable(ValueId value, const std::map<ValueId, Cuts>& fixed, bool budget);
  void one(const Op& op);
  void alike(ValueId from, ValueId to);
  void alike_by_labels(const Op& op);
  void passed_on(const Op& op);
  void product(const Op& op);
  [[nodiscard]] bool is_variable(ValueId v) const { return variable_of_[v] >= 0; }
  [[nodiscard]] const Choice& choice(ValueId v, const tiling::Assignment& at) const;
  [[nodiscard]] double bytes(ValueId v) const { return moves_.array(m_.type(v)); }
  [[nodiscard]] bool is_cut_as(ValueId a, const Choice& one, ValueId b, const Choice& other) const;
  [[nodiscard]] double product_cost(const Op& op, bool whole, const tiling::Assignment& at) const;
  // Among the variables of these values, and `form` if it is one.
  template <class Price>
  void add_factor(const std::vector<ValueId>& values, tiling::VariableId form, bool is_view, const Price& price);

  Module m_;
  Moves moves_;
  double workers_;
  tiling::Graph graph_;
  IdMap<tiling::VariableId, std::vector<Choice>> choices_;
  IdMap<tiling::VariableId, ValueId> arrays_;  // no_value: the form of a product
  IdMap<ValueId, tiling::VariableId> variable_of_;
  std::vector<int> ops_;  // of the graph's factors
  int number_ = -1;       // of the operator at hand
};

}  // namespace kasen
