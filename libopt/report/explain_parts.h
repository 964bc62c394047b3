// What the parts of an explanation share: who makes and who reads each value, and how places and bytes are written.
// Internal to libopt.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "libcore/laws/laws.h"
#include "libopt/cost/rules.h"
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

  // Of a region's result the operator inside that makes it; null for arguments of blocks.
  [[nodiscard]] const Op* maker(ValueId value) const;
  // Operators that take the value; of a region those inside.
  [[nodiscard]] const std::vector<const Op*>& readers(ValueId value) const {
    return readers_[static_cast<size_t>(value)];
  }
  [[nodiscard]] const CostRow& row(const Op& op) const {
    return report.report().rows[static_cast<size_t>(numbers_.at(&op))];
  }
  [[nodiscard]] const std::string& name(ValueId value) const { return plan.value(value).name; }
  [[nodiscard]] std::string shown(const Op& op) const;  // "map[f] at line 11"
  [[nodiscard]] std::string often(const Op& op) const;  // "once", "in each turn of the while at line 10"
  [[nodiscard]] std::string bytes(const Polynomial& polynomial) const;  // "8 S bytes = 80"
  [[nodiscard]] std::string source(const Location& where) const;        // "line 11 | new_pr = ..."

 private:
  void walk(const Block& block, bool in_region);

  std::map<const Op*, int> numbers_;
  std::vector<const Op*> makers_;
  std::vector<std::vector<const Op*>> readers_;
};

// One section each, with its heading; empty where there is nothing to say.
[[nodiscard]] std::string explain_transitions(const PlanView& view);
[[nodiscard]] std::string explain_splits(const PlanView& view);
[[nodiscard]] std::string explain_moves(const PlanView& view);
[[nodiscard]] std::string explain_laws(const PlanView& view);
[[nodiscard]] std::string explain_regions(const PlanView& view);
[[nodiscard]] std::string explain_buffers(const PlanView& view);

// What else could have been done there, what that would send and touch, and what would turn the choice.
[[nodiscard]] std::string transition_runner_up(const PlanView& view, const Op& transition);
// Of a sum that goes on as shares through `scaled`, the first half of a split statement.
[[nodiscard]] std::string split_runner_up(const PlanView& view, const Op& scaled, ValueId sum);

}  // namespace kasen
