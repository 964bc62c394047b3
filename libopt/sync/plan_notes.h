// Notes on a plan: the alternatives that the optimizer weighed, for `--explain`, and the sizes that it assumed.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "libopt/options/options.h"
#include "libopt/sync/units.h"
#include "libopt/time/price.h"

namespace kasen {

// The chosen mode of one unit, and the cost of the whole plan with each mode.
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

// The cost of the whole plan by each strategy (strategies.h).
struct StrategyChoice {
  std::vector<StrategyPrice> prices;  // empty: nobody asked
  Strategy chosen = Strategy::greedy;
  Strategy asked = Strategy::cost;    // the strategy that made the plan at hand
  bool other_sizes = false;           // it was the cheapest with other sizes than these
  std::vector<std::string> defaults;  // sizes that nobody gave and that decided
};

// For one block: the results of selected fusion plans.
struct FusionNote {
  std::string block;
  std::vector<std::string> again, splits;  // computed several times; no region can hold it
  std::vector<std::string> cut;            // what was not tried, as the block is large
};

// For one block: values at which fused operators might end, by their storage in the plan.
struct PointsNote {
  std::string block;
  std::vector<std::string> stored, inside;
};

struct PlanNotes {
  bool explain = false;  // if set, other ways are weighed even where one is forced
  std::vector<SyncNote> sync;
  int sync_candidates = 0;   // ways that were priced to choose; 0: the way was forced
  bool sync_cut = false;     // of a large program, only some ways were priced
  MachineProfile machine;    // the machine of the prices
  bool compared = false;     // whether the two below are set
  PlanPrice fused, unfused;  // the plan with everything done, and the one that fuses nothing
  StrategyChoice strategies;
  std::vector<FusionNote> fusion;
  std::vector<PointsNote> points;
  std::vector<std::string> swaps;       // for each store and load of the pass swap: why, in a line
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
