// The questions that the sections of a run's page ask of its counters. Internal to libopt.
#pragma once

#include "libopt/picture/page.h"

namespace kasen {

[[nodiscard]] inline const OpCount& counted(const RunFacts& facts, int number) {
  return facts.run.ops.at(static_cast<size_t>(number));
}

[[nodiscard]] inline bool is_transition(const CostRow& row) {
  return kasen::row(row.code).group == OpGroup::transition;
}

// Returns true for a loop or a branch, whose time is that of its contents.
[[nodiscard]] inline bool holds_others(const CostRow& row) {
  return kasen::row(row.code).group == OpGroup::control && row.code != OpCode::region;
}

[[nodiscard]] inline bool has_time(const CostRow& row, const OpCount& count) {
  return row.region < 0 && !holds_others(row) && row.code != OpCode::yield && count.executions > 0 && count.seconds > 0;
}

}  // namespace kasen
