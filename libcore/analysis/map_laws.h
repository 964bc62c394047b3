// A map with a pre-reduced operand runs under a law (rules 10, 11, 14 and 15 of state_rules.h): which ones may apply,
// and which one does.
#pragma once

#include <span>
#include <vector>

#include "libcore/ir/module.h"
#include "libcore/laws/laws.h"

namespace kasen {

// True if the functions have the same parameter types and body (names do not matter).
[[nodiscard]] bool same_function(const Module& module, FnId a, FnId b);

// What the rules ask of a map's operands.
struct MapOperands {
  int pre = -1;  // number of the pre-reduced operand
  int pre_count = 0;
  int distributed = 0;                    // operands that are not shared
  bool all_part = true, all_cons = true;  // of the distributed operands that are not pre-reduced
  bool covered = true;                    // every C operand's set contains the pre-reduced one's
  SlaveSet common;                        // intersection of the C operands' sets
};

[[nodiscard]] MapOperands look_at(const Module& module, const Op& op, std::span<const State> states);

struct LawRule {
  LawKind kind;
  int rule;
};

// The laws under which a pre-reduced operand may be mapped, in the order in which they are tried.
[[nodiscard]] std::vector<LawRule> candidates(const MapOperands& seen);
// The use of the same law in a list; null: it is not there.
[[nodiscard]] const LawUse* find_law(const Module& module, const std::vector<LawUse>& list, const LawUse& wanted);

}  // namespace kasen
