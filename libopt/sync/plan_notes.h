// Why a plan is as it is: what the optimizer weighed while it made it, for `--explain` and for telling what was
// assumed.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "libopt/options/options.h"
#include "libopt/sync/units.h"
#include "libopt/time/price.h"

namespace kasen {

// One unit's way of placing transitions, and what the whole plan would cost with each.
struct SyncNote {
  SyncUnit unit;
  SyncMode chosen = SyncMode::hybrid;
  std::vector<std::pair<SyncMode, Price>> prices;
};

enum class GivenUp : std::uint8_t { nothing, moves, fusion };

struct StrategyPrice {
  Strategy strategy = Strategy::greedy;
  PlanPrice price;
};

// What the whole plan would cost by each strategy (strategies.h).
struct StrategyChoice {
  std::vector<StrategyPrice> prices;  // empty: nobody asked
  Strategy chosen = Strategy::greedy;
  Strategy asked = Strategy::cost;    // by which the plan at hand was made
  std::vector<std::string> defaults;  // sizes that nobody gave and that decided
};

// Of one block: what selected fusion plans became.
struct FusionNote {
  std::string block;
  std::vector<std::string> again, splits;  // computed several times; no region can be it
};

// Of one block: values at which fused operators might end, by where the plan has them.
struct PointsNote {
  std::string block;
  std::vector<std::string> stored, inside;
};

struct PlanNotes {
  bool explain = false;  // asked for: weigh the other ways even where one is forced
  std::vector<SyncNote> sync;
  int sync_candidates = 0;   // ways that were priced to choose; 0: the way was forced
  MachineProfile machine;    // with which was priced
  bool compared = false;     // of the two below
  PlanPrice fused, unfused;  // the plan with everything done, and the one that fuses nothing
  StrategyChoice strategies;
  std::vector<FusionNote> fusion;
  std::vector<PointsNote> points;
  GivenUp given_up = GivenUp::nothing;  // because it would have cost more than the unfused plan
  std::vector<std::string> taken;       // sizes that nobody gave, in the prices of `sync`
  std::vector<std::string> defaults;    // sizes that nobody gave and that decided: "N = 1,000,000"

  void assume(const std::vector<std::string>& sizes) {
    for (const std::string& size : sizes) {
      if (std::find(defaults.begin(), defaults.end(), size) == defaults.end()) defaults.push_back(size);
    }
  }
};

}  // namespace kasen
