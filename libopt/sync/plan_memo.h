// What planning a program in several ways computes once: the prices of plans that more than one of them weighs. All the
// ways have the same program and options but for the strategy and the moves.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "libopt/options/options.h"
#include "libopt/time/price.h"

namespace kasen {

struct PlanMemo {
  struct Plan {
    PlanPrice price;
    int operators = 0;
  };
  // Plans by the passes behind `place`, by the text of the module that it made.
  struct Trials {
    Pricing pricing;
    std::map<std::string, Plan> by_text;
  };
  // The plan with nothing fused, and the sizes that its price assumed.
  struct Unfused {
    PlanPrice price;
    Pricing pricing;
  };
  std::map<std::pair<Strategy, bool>, Trials> trials;  // by strategy and moves
  std::optional<Unfused> unfused;
};

}  // namespace kasen
