// The options of the optimizer.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/cost/sizes.h"
#include "libopt/placing/grid_hint.h"
#include "libopt/spread/search.h"
#include "libopt/time/machine.h"

namespace kasen {

enum class Strategy : std::uint8_t {
  none,                // every operator runs by itself
  greedy,              // regions are as large as possible, and nothing is computed twice
  fuse_all,            // fusion plans (fusion/select.h): each operator computes the values that several need
  fuse_no_redundancy,  // fusion plans: values that several operators need are stored
  mpskip,              // fusion plans: the cheapest by the costs of operators (MPSkipEnum)
  cost,                // the one of these with the cheapest plan
};
// The values of `--strategy`.
inline constexpr std::array<std::pair<std::string_view, Strategy>, 5> strategy_names{
    {{"none", Strategy::none},
     {"greedy", Strategy::greedy},
     {"fuse-all", Strategy::fuse_all},
     {"fuse-no-redundancy", Strategy::fuse_no_redundancy},
     {"cost", Strategy::cost}}};
enum class SyncMode : std::uint8_t { lazy, eager, hybrid, automatic };  // automatic: by cost, for each unit
// The values of `--sync`.
inline constexpr std::array<std::pair<std::string_view, SyncMode>, 4> sync_names{{{"lazy", SyncMode::lazy},
                                                                                  {"eager", SyncMode::eager},
                                                                                  {"hybrid", SyncMode::hybrid},
                                                                                  {"auto", SyncMode::automatic}}};

struct EpilogueWord {
  bool join = false, by_size = false;  // OptimizeOptions, below
  friend bool operator==(const EpilogueWord&, const EpilogueWord&) = default;
};
// The values of `--epilogue`.
inline constexpr std::array<std::pair<std::string_view, EpilogueWord>, 3> epilogue_names{
    {{"on", {true, false}}, {"off", {false, false}}, {"auto", {true, true}}}};

// How arrays get their cuts over a mesh of workers (libopt/layouts/tile.h).
enum class TileSearch : std::uint8_t {
  none,     // by the usual rules, each operator by itself
  exact,    // the cheapest, with a proof or with the gap to the bound
  greedy,   // Spartan's: the array with most neighbours first
  mincost,  // arrays in the order of the program, each as it costs least beside those before it
  worst,    // the dearest, for comparisons
};
// The values of `--tile`.
inline constexpr std::array<std::pair<std::string_view, TileSearch>, 5> tile_names{{{"exact", TileSearch::exact},
                                                                                    {"greedy", TileSearch::greedy},
                                                                                    {"mincost", TileSearch::mincost},
                                                                                    {"worst", TileSearch::worst},
                                                                                    {"none", TileSearch::none}}};

enum class TileCosts : std::uint8_t { actual, paper };  // what travels, or Spartan's own way of counting
// The values of `--tile-costs`.
inline constexpr std::array<std::pair<std::string_view, TileCosts>, 2> tile_cost_names{
    {{"actual", TileCosts::actual}, {"paper", TileCosts::paper}}};

// Where the user wants an input or an output over a mesh: for each dimension its name and the mesh's axes that cut it.
struct LayoutHint {
  std::string array;
  std::vector<std::pair<std::string, std::string>> cuts;
};

// Where block operators run over a mesh (pass spread).
struct SpreadOptions {
  std::string search;  // its name (libopt/spread/search.h); empty: there are no regions of blocks
  std::vector<placing::GridHint> grids;
  spread::SearchOptions found_by;
};

struct PlanMemo;
struct PlanNotes;

struct OptimizeOptions {
  Strategy strategy = Strategy::greedy;
  SyncMode sync = SyncMode::hybrid;
  bool move_statements = true;  // not for none: an iteration's first statements may move into the one before
  bool epilogue = false;        // not for none: vector work follows a product's rows at once (product_epilogue regions)
  bool epilogue_by_size = false;  // with epilogue: not where the sizes at hand say that it costs more than it saves
  bool simplify = false;  // with none, where it stands for another strategy: over a mesh, with vector regions alone
  // With a mesh of workers, arrays get cuts over its axes, and vector work is fused. Empty: the default layout.
  std::vector<MeshAxis> mesh;
  std::int64_t mesh_workers = 0;  // without a mesh: the best one of so many workers is found; 0: none
  TileSearch tile = TileSearch::exact;
  TileCosts tile_costs = TileCosts::actual;
  std::pair<std::string, double> scaled;  // a dimension whose size counts so many times, to ask what changes then
  std::int64_t copy_bytes = -1;           // on a worker: the budget for copies of arrays with other cuts; -1: no limit
  std::vector<LayoutHint> layouts;        // with a mesh; UserError (usage) for one that does not fit the program
  // On a worker: what buffers may take; what does not fit goes to a disk and comes back (pass swap). 0: no limit.
  std::int64_t swap_memory = 0;
  SpreadOptions spread;
  bool schedule = false;  // the plan gets its schedule (level 4)
  bool split = true;      // a + b*x runs as its two lawful halves where that avoids a gather (lazy)
  // One of several plans that are compared: what selects its fused operators works within limits
  // (passes/fuse_selected), and what plans have in common is computed once (sync/plan_memo.h).
  bool bounded = false;
  std::shared_ptr<PlanMemo> memo;
  // These decide where formulas alone cannot: the numbers known for a plan (if unset, default sizes) and the machine.
  std::function<Sizes(const Module& plan)> sizes;
  MachineProfile machine;
  PlanNotes* notes = nullptr;  // filled in if it is set (plan_notes.h)
  std::string print_after;     // name of a pass, or "all"
  std::function<void(const std::string& pass, const Module& module)> on_print;
  std::function<void(const std::string& pass, double seconds, bool changed)> on_pass;
};

// Returns the same way of planning without reports on the way.
[[nodiscard]] OptimizeOptions quiet(OptimizeOptions options);

[[nodiscard]] std::string_view strategy_name(Strategy strategy);
[[nodiscard]] std::string_view sync_name(SyncMode mode);

}  // namespace kasen
