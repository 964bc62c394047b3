// IR of level 1 or 2 through the passes: whatever way of planning, what they make of a module that the verifier accepts
// obeys the rules of level 3 and runs to what the plain interpreter says of the module itself.
#include <array>
#include <cmath>

#include "libcore/ir/module.h"
#include "libcore/laws/laws.h"
#include "libopt/optimize/optimize.h"
#include "tests/fuzz/harness.h"
#include "tests/fuzz/kinds.h"
#include "tests/support/bounded_run.h"

namespace kasen::fuzz {
namespace {

// By the text alone, so that a file is always planned in the same way and small changes try the others. What weighs
// many plans against each other (cost, automatic placing) takes long without optimization: small modules alone.
OptimizeOptions way_of(std::string_view content, const Module& module) {
  static constexpr std::array strategies{Strategy::none,     Strategy::greedy,
                                         Strategy::fuse_all, Strategy::fuse_no_redundancy,
                                         Strategy::mpskip,   Strategy::cost};
  static constexpr std::array syncs{SyncMode::lazy, SyncMode::eager, SyncMode::hybrid, SyncMode::automatic};
  constexpr std::size_t few_values = 12;
  const std::size_t spared = module.values.size() > few_values ? 1 : 0;
  const std::size_t strategy_count = strategies.size() - 2 * spared, sync_count = syncs.size() - spared;
  std::size_t way = 0;
  for (const char c : content) way += static_cast<unsigned char>(c);
  OptimizeOptions options;
  options.strategy = strategies[way % strategy_count];
  options.sync = syncs[way / strategy_count % sync_count];
  options.epilogue = way / (strategy_count * sync_count) % 2 == 1;
  options.schedule = way / (strategy_count * sync_count) % 4 >= 2;
  return options;
}

}  // namespace

void fuzz_passes(std::string_view content) {
  const Module module = parse_module(content, "module.kir");
  TrialLawChecker laws(64);
  if (module.level > 2 || !verify_module(module, laws).empty() || !testing::is_small(module)) return;
  constexpr std::size_t most_values = 90;
  if (module.values.size() > most_values) return;
  const Module plan = optimize(module, laws, way_of(content, module));
  const std::string text = print_module(plan);
  require(plan.level >= 3 && verify_module(plan, laws).empty(), "what the passes make is a plan", text);
  require(print_module(parse_module(text, "plan.kir")) == text, "a plan reads back as it is", text);
  const testing::BoundedRun run = testing::run_bounded(plan, module, 2, {.steps = 300, .seed = 1});
  for (const std::string& name : run.wrong) require(false, "a plan gives what its program means", name + '\n' + text);
}

}  // namespace kasen::fuzz
