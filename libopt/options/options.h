// How the optimizer shall plan.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "libcore/ir/module.h"
#include "libopt/cost/sizes.h"
#include "libopt/time/machine.h"

namespace kasen {

enum class Strategy : std::uint8_t {
  none,                // every operator by itself
  greedy,              // regions as large as can be, nothing computed twice
  fuse_all,            // fusion plans (fusion/select.h): what several operators need is computed in each of them
  fuse_no_redundancy,  // fusion plans: what several operators need is stored
  mpskip,              // fusion plans: the cheapest by the costs of operators (MPSkipEnum)
  cost,                // whichever of these makes the cheapest plan
};
// What `--strategy` takes.
inline constexpr std::array<std::pair<std::string_view, Strategy>, 5> strategy_names{
    {{"none", Strategy::none},
     {"greedy", Strategy::greedy},
     {"fuse-all", Strategy::fuse_all},
     {"fuse-no-redundancy", Strategy::fuse_no_redundancy},
     {"cost", Strategy::cost}}};
enum class SyncMode : std::uint8_t { lazy, eager, hybrid, automatic };  // automatic: by cost, for each unit

struct PlanNotes;

struct OptimizeOptions {
  Strategy strategy = Strategy::greedy;
  SyncMode sync = SyncMode::hybrid;
  bool move_statements = true;  // but for none: a turn's first statements may move into the turn before
  bool epilogue = false;        // but for none: vector work follows a product's rows at once (product_epilogue regions)
  bool epilogue_by_size = false;  // with epilogue: not where the sizes at hand say that it costs more than it saves
  bool split = true;              // a + b*x runs as its two lawful halves where that avoids a gather (lazy)
  // What decides where formulas alone cannot: the numbers known for a plan (none: default sizes) and the machine.
  std::function<Sizes(const Module& plan)> sizes;
  MachineProfile machine;
  PlanNotes* notes = nullptr;  // filled in if there are any (plan_notes.h)
  std::string print_after;     // name of a pass, or "all"
  std::function<void(const std::string& pass, const Module& module)> on_print;
  std::function<void(const std::string& pass, double seconds, bool changed)> on_pass;
};

// The same way of planning, with nothing told on the way.
[[nodiscard]] OptimizeOptions quiet(OptimizeOptions options);

}  // namespace kasen
