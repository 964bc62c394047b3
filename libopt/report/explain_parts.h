// Shared by the parts of an explanation: the maker and the readers of each value, and the text of places and bytes.
// Internal to libopt.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "libcore/laws/laws.h"
#include "libopt/cost/rules.h"
#include "libopt/report/explain.h"
#include "libopt/text/report_parts.h"
#include "libopt/time/machine.h"

namespace kasen {

class PlanView {
 public:
  PlanView(const Module& plan, const Sizes* sizes, const MachineProfile& profile, LawChecker& law_checker);

  const Module& plan;
  const MachineProfile machine;
  const ReportContext report;
  const CostContext costs;
  LawChecker& laws;

  // Returns the maker: for a region's result the operator inside; null for arguments of blocks.
  [[nodiscard]] const Op* maker(ValueId value) const;
  // Returns the operators that take the value; for a region those inside.
  [[nodiscard]] const std::vector<const Op*>& readers(ValueId value) const { return readers_[value]; }
  [[nodiscard]] const CostRow& row(const Op& op) const {
    return report.report().rows[static_cast<size_t>(numbers_.at(&op))];
  }
  [[nodiscard]] const std::string& name(ValueId value) const { return plan.value(value).name; }
  [[nodiscard]] std::string shown(const Op& op) const;  // "map[f] at line 11"
  [[nodiscard]] std::string often(const Op& op) const;  // "once", "in each iteration of the while at line 10"
  [[nodiscard]] std::string bytes(const Polynomial& polynomial) const;  // "8 S bytes = 80"
  [[nodiscard]] Amount amount(std::string name, const Polynomial& polynomial) const;

 private:
  void walk(const Block& block, bool in_region);

  std::map<const Op*, int> numbers_;
  IdMap<ValueId, const Op*> makers_;
  IdMap<ValueId, std::vector<const Op*>> readers_;
};

// Each returns one section, without items if there is nothing to report.
[[nodiscard]] ExplainedSection explain_transitions(const PlanView& view);
[[nodiscard]] ExplainedSection explain_splits(const PlanView& view);
[[nodiscard]] ExplainedSection explain_moves(const PlanView& view);
[[nodiscard]] ExplainedSection explain_laws(const PlanView& view);
[[nodiscard]] ExplainedSection explain_regions(const PlanView& view);
[[nodiscard]] ExplainedSection explain_repeated(const PlanView& view);
[[nodiscard]] ExplainedSection explain_buffers(const PlanView& view);

// States the alternative there, the bytes that it would send and touch, and what would reverse the choice.
[[nodiscard]] std::string transition_runner_up(const PlanView& view, const Op& transition);
// For a sum that goes on as shares through `scaled`, the first half of a split statement.
[[nodiscard]] std::string split_runner_up(const PlanView& view, const Op& scaled, ValueId sum);

}  // namespace kasen
