#include "libopt/optimize/replan.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "libopt/optimize/optimize.h"

namespace kasen {
namespace {

// The ways by which a plan can have been made. With other sizes than those at hand, a choice by cost may have come out
// as any of the forced ones.
std::vector<OptimizeOptions> ways(const OptimizeOptions& made) {
  std::vector<OptimizeOptions> all{made};
  if (made.sync == SyncMode::automatic) {
    for (const SyncMode sync : {SyncMode::hybrid, SyncMode::eager, SyncMode::lazy}) {
      all.push_back(made);
      all.back().sync = sync;
    }
  }
  if (!made.epilogue_by_size) return all;
  const std::vector<OptimizeOptions> by_size = all;
  for (const bool epilogue : {true, false}) {
    for (OptimizeOptions way : by_size) {
      way.epilogue = epilogue;
      way.epilogue_by_size = false;
      all.push_back(std::move(way));
    }
  }
  return all;
}

// Sets the notes right where the sizes at hand would choose otherwise than those of the plan.
void note_what_was_made(PlanNotes& notes, const PlanRecord& record) {
  const OptimizeOptions &asked = record.asked, &made = record.made;
  const bool chosen = asked.strategy == Strategy::cost;
  notes.given_up = !chosen && made.strategy != asked.strategy      ? GivenUp::fusion
                   : made.move_statements != asked.move_statements ? GivenUp::moves
                                                                   : GivenUp::nothing;
  notes.strategies.other_sizes = chosen && notes.strategies.chosen != made.strategy;
  if (notes.strategies.other_sizes) notes.strategies.asked = made.strategy;
}

}  // namespace

std::optional<Replanned> plan_again(const Module& plan, const Module& program, LawChecker& laws,
                                    const std::function<Sizes(const Module&)>& sizes, const MachineProfile& machine) {
  const std::optional<PlanRecord> record = read_record(plan.planned_by);
  if (!record) return std::nullopt;
  const std::string wanted = print_module(plan, false);
  const std::vector<OptimizeOptions> tried = ways(record->made);
  const bool same = std::any_of(tried.begin(), tried.end(), [&](OptimizeOptions options) {
    options.sizes = sizes;
    options.machine = machine;
    Module made = optimize_exactly(program, laws, options);
    made.planned_by = plan.planned_by;
    return print_module(made, false) == wanted;
  });
  if (!same) return std::nullopt;
  Replanned again{*record, {}};
  again.notes.explain = true;
  OptimizeOptions options = record->asked;
  options.sizes = sizes;
  options.machine = machine;
  options.notes = &again.notes;
  (void)optimize(program, laws, options);
  note_what_was_made(again.notes, *record);
  return again;
}

}  // namespace kasen
