// The tiling graph of a program over a mesh (graph.h), and what its assignments mean.
//
// A variable for each array that is distributed: how it is cut, and which further copies of it all its readers share
// (DESIGN-2, section 6: duplicates). A value that a loop carries is one variable in the body and behind the loop, and
// so is a list with its updates. A factor prices a reading of operands (readings.h): each form that is not at hand is
// made once, where the operand is made. Where there is a budget, a copy with other cuts is kept only if its variable
// says so; else it is made at each read.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "libcore/ir/module.h"
#include "libcore/laws/laws.h"
#include "libopt/layouts/cut_rules.h"
#include "libopt/layouts/moves.h"
#include "libopt/layouts/problem.h"
#include "libopt/layouts/readings.h"
#include "libopt/tiling/graph.h"

namespace kasen {

// What a choice of a variable means.
struct TilingOption {
  Cuts cuts;
  std::size_t place = 0;       // of these among CutChoices::of
  std::vector<CopyForm> kept;  // shared by all readers of the variable's main value
  MeshAxes made = 0;           // the kept form is made along these axes by the workers there, and not sent
};

struct TilingVariable {
  ValueId main;                       // a loop's own value, else the only one
  std::vector<TilingOption> options;  // as Variable::choices
};

struct TilingInput {
  std::function<double(int op)> runs;  // executions of an operator, by its number
  std::map<ValueId, Cuts> fixed;       // cuts that the user asks for
  bool budget = false;                 // copies count, as bytes on a worker
};

class TilingProblem : public LayoutProblem {
 public:
  // `sized`: of level 1, with a mesh and all sizes; its arrays have no cuts.
  TilingProblem(const Module& sized, LawChecker& laws, TilingInput input);

  [[nodiscard]] const Module& module() const override { return m_; }
  [[nodiscard]] const tiling::Graph& graph() const override { return graph_; }
  [[nodiscard]] ValueId array(tiling::VariableId id) const override { return variables_[id].main; }
  [[nodiscard]] Cuts cuts(tiling::VariableId id, std::size_t choice) const override {
    return variables_[id].options.at(choice).cuts;
  }
  [[nodiscard]] int op(std::size_t factor) const override { return ops_.at(factor); }
  [[nodiscard]] TilingDecisions decisions(const tiling::Assignment& choices) const override;

 private:
  struct Priced {
    const ReadingWay* way = nullptr;
    double cost = 0;
  };
  // Of one reading.
  struct FormCosts {
    std::map<const ReadingWay*, std::vector<std::size_t>> forms;  // of all ways of a list, in order, by its first
    std::vector<std::vector<std::vector<double>>> costs;  // by operand, form and option of the operand's variable
  };

  void group_values();
  void join(ValueId a, ValueId b);
  void note_runs();
  void make_variables();
  [[nodiscard]] std::vector<CopyForm> shared_forms(tiling::VariableId id) const;
  [[nodiscard]] std::vector<TilingOption> repeated_options(tiling::VariableId id,
                                                           const std::vector<TilingOption>& alone) const;
  [[nodiscard]] std::vector<TilingOption> options_of(tiling::VariableId id) const;
  void make_factors();
  [[nodiscard]] const TilingOption& option(ValueId value, const tiling::Assignment& choices) const;
  [[nodiscard]] double form_cost(ValueId value, const TilingOption& option, const CopyForm& form, double runs) const;
  [[nodiscard]] bool is_made_anew(ValueId value, const TilingOption& option, const Cuts& cuts) const;
  [[nodiscard]] const std::vector<ReadingWay>& ways_of(const Reading& reading, const tiling::Assignment& choices) const;
  [[nodiscard]] FormCosts form_costs(const Reading& reading) const;
  [[nodiscard]] Priced best(const Reading& reading, const FormCosts& forms, const tiling::Assignment& choices) const;
  [[nodiscard]] double kept_cost(tiling::VariableId id, const TilingOption& option) const;
  [[nodiscard]] double memory(tiling::VariableId id, const TilingOption& option) const;

  Module m_;
  TilingInput input_;
  CutChoices choices_;
  mutable Moves moves_;  // remembers
  std::vector<Reading> readings_;
  tiling::Graph graph_;
  std::vector<int> ops_;  // of its factors
  IdMap<tiling::VariableId, TilingVariable> variables_;
  IdMap<ValueId, tiling::VariableId> variable_of_;
  IdMap<ValueId, ValueId> leader_;                               // of the values that are one variable
  IdMap<ValueId, double> made_runs_;                             // how often a value is made
  IdMap<tiling::VariableId, std::vector<std::size_t>> readers_;  // the readings of its main value
  std::map<tiling::VariableId, Cuts> fixed_;
};

}  // namespace kasen
