#include "libopt/optimize/optimize.h"

#include <fmt/format.h>

#include <array>
#include <chrono>

#include "libcore/base/error.h"
#include "libcore/base/suggest.h"
#include "libcore/ir/layout.h"
#include "libopt/optimize/strategies.h"
#include "libopt/options/record.h"
#include "libopt/passes/passes.h"
#include "libopt/prover/verdicts.h"
#include "libopt/rewrite/rewrite.h"
#include "libopt/sync/plan_memo.h"
#include "libopt/sync/plan_notes.h"

namespace kasen {

namespace {

constexpr std::array rows{
#define PASS(function, name, when, from, to, steps, doc, why) \
  PassRow{name, pass_##function, PassWhen::when, from, to, steps, doc, why},
#include "libopt/passes/passes.def"
#undef PASS
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Reports a bug of the optimizer: the pass, the rule that it broke, and the position.
void verify_after(const PassRow& pass, const Module& module, LawChecker& laws) {
  const std::vector<Diagnostic> faults = verify_module(module, laws);
  if (faults.empty()) return;
  throw InternalError(fmt::format("pass '{}' broke the module: {}", pass.name, format_diagnostic(faults.front())));
}

bool is_enabled(PassWhen when, const OptimizeOptions& options) {
  const bool fusing = options.strategy != Strategy::none;
  switch (when) {
    case PassWhen::always:
      return true;
    case PassWhen::simplifying:
      return fusing || options.simplify;
    case PassWhen::fusing:
      return fusing;
    case PassWhen::moving:
      return fusing && options.move_statements;
    case PassWhen::hoisting:
      return fusing ? options.move_statements : options.simplify;
    case PassWhen::meshing:
      return options.simplify;
    case PassWhen::spreading:
      return !options.spread.search.empty();
    case PassWhen::swapping:
      return options.swap_memory > 0;
    case PassWhen::scheduling:
      return options.schedule;
  }
  throw InternalError("a pass outside the table");
}

bool runs_over_mesh(PassWhen when) {
  return when == PassWhen::always || when == PassWhen::simplifying || when == PassWhen::hoisting ||
         when == PassWhen::meshing || when == PassWhen::spreading || when == PassWhen::swapping ||
         when == PassWhen::scheduling;
}

bool runs(const PassRow& pass, const Module& module, const OptimizeOptions& options) {
  return is_enabled(pass.when, options) && module.level >= pass.from && module.level <= pass.to;
}

bool over_workers(const Module& module, const OptimizeOptions& options) {
  return !options.mesh.empty() || options.mesh_workers > 0 || names_layouts(module);
}

// Over a mesh, regions hold vector work alone, and all strategies but none make them.
OptimizeOptions over_mesh(const Module& module, OptimizeOptions options) {
  if (!over_workers(module, options)) return options;
  options.simplify = options.strategy != Strategy::none;
  options.strategy = Strategy::none;
  if (options.mesh.empty() || module.mesh.empty() || options.mesh == module.mesh) return options;
  fail(ExitStatus::bad_input, "the module names another mesh than --mesh", "its arrays are cut over that one",
       "leave out --mesh, or plan the program again");
}

bool run_pass(const PassRow& pass, Module& module, PassContext& context) {
  const auto start = std::chrono::steady_clock::now();
  const bool changed = pass.run(module, context);
  if (changed) {
    compact_values(module);
    verify_after(pass, module, context.laws);
  }
  if (context.options.on_pass) context.options.on_pass(std::string(pass.name), seconds_since(start), changed);
  const std::string& wanted = context.options.print_after;
  if (context.options.on_print && (wanted == "all" || wanted == pass.name)) {
    context.options.on_print(std::string(pass.name), module);
  }
  return changed;
}

Module all_passes(Module module, LawChecker& laws, const OptimizeOptions& options) {
  PassContext context{laws, options};
  for (const PassRow& pass : rows) {
    if (runs(pass, module, options)) (void)run_pass(pass, module, context);
  }
  return module;
}

// Returns the plan that these options lead to, for its price. It is not verified, and nothing is reported.
Module preview(Module module, LawChecker& laws, const OptimizeOptions& options) {
  PassContext context{laws, options};
  for (const PassRow& pass : rows) {
    if (runs(pass, module, options) && pass.run(module, context)) compact_values(module);
  }
  return module;
}

// Compares by the paper's model and by the actual column. Operators that the actual column chose (mpskip) are compared
// by it alone. They may compute again in less time and yet be dearer in the model, which counts a product's bytes for
// each nonzero.
bool dearer_than(const PlanPrice& a, const PlanPrice& b, Strategy strategy) {
  if (dearer(a.actual.seconds, b.actual.seconds)) return true;
  return strategy != Strategy::mpskip && dearer(a.model.seconds, b.model.seconds);
}

// Returns the price of the plan in which nothing is fused, and adds the sizes that it assumed to those of `pricing`.
PlanPrice price_unfused(const Module& program, LawChecker& laws, OptimizeOptions plain, Pricing& pricing) {
  const std::shared_ptr<PlanMemo> memo = plain.memo ? plain.memo : std::make_shared<PlanMemo>();
  if (!memo->unfused) {
    Pricing own(plain.sizes, plain.machine);
    PlanPrice price = own(preview(program, laws, plain));
    memo->unfused = {std::move(price), std::move(own)};
  }
  pricing.assume(memo->unfused->pricing);
  return memo->unfused->price;
}

// Fusing and moving statements pay on the expected execution, not always: a loop's first statements that run in the
// iteration before run once more than there are iterations. A plan dearer than the program with nothing fused is given
// up, the moves first. Fusing is kept if it was asked for at any cost. With --sync auto the unfused plan is the hybrid
// one.
OptimizeOptions cheapest(const Module& program, const Module& fused, LawChecker& laws, const OptimizeOptions& options) {
  Pricing pricing(options.sizes, options.machine);
  OptimizeOptions other = options;
  other.notes = nullptr;
  other.move_statements = false;
  OptimizeOptions plain = other;
  plain.strategy = Strategy::none;
  if (plain.sync == SyncMode::automatic) plain.sync = SyncMode::hybrid;
  const PlanPrice unfused = price_unfused(program, laws, plain, pricing);
  const PlanPrice price = pricing(fused);
  const bool decided = never_dearer(price.model_form, unfused.model_form, options.machine) &&
                       never_dearer(price.actual_form, unfused.actual_form, options.machine);
  const bool keep = decided || !dearer_than(price, unfused, options.strategy);
  const bool whatever = options.strategy == Strategy::fuse_all || options.strategy == Strategy::fuse_no_redundancy;
  const bool still =
      keep || whatever || !dearer_than(pricing(preview(program, laws, other)), unfused, options.strategy);
  if (options.notes != nullptr) {
    options.notes->compared = true;
    options.notes->fused = price;
    options.notes->unfused = unfused;
    options.notes->given_up = keep ? GivenUp::nothing : still ? GivenUp::moves : GivenUp::fusion;
    if (!decided) options.notes->assume(pricing.defaults());
  }
  return keep ? options : still ? other : plain;
}

// A plan of level 3 only gets its stores and loads, and its schedule, if these are asked for.
Module finished(Module module, LawChecker& laws, const OptimizeOptions& options) {
  PassContext context{laws, options};
  for (const PassRow& pass : rows) {
    const bool last = pass.when == PassWhen::swapping || pass.when == PassWhen::scheduling;
    if (last && runs(pass, module, options)) (void)run_pass(pass, module, context);
  }
  return module;
}

struct Planned {
  Module plan;
  OptimizeOptions options;  // the options with which it was made in the end
};

// Plans by one strategy other than `cost`.
Planned planned(const Module& module, LawChecker& laws, const OptimizeOptions& options) {
  Module plan = all_passes(module, laws, options);
  if (options.strategy == Strategy::none || module.level > 1) return {std::move(plan), options};
  OptimizeOptions instead = cheapest(module, plan, laws, options);
  const bool keep = instead.strategy == options.strategy && instead.move_statements == options.move_statements;
  if (keep) return {std::move(plan), options};
  PlanNotes notes;
  instead.notes = &notes;
  plan = all_passes(module, laws, instead);
  instead.notes = nullptr;
  if (options.notes != nullptr) options.notes->fusion = std::move(notes.fusion);
  return {std::move(plan), instead};
}

// Other plans, to which it is compared, have no need to fit.
Module optimize_in_memory(Module module, LawChecker& laws, const OptimizeOptions& asked) {
  OptimizeOptions without = asked;
  without.swap_memory = 0;
  without.schedule = false;
  const auto fitted = [&] { return finished(optimize(module, laws, without), laws, asked); };
  if (module.level > 1 || asked.strategy == Strategy::none) return fitted();
  try {
    return fitted();
  } catch (const UserError& error) {
    if (error.status() != ExitStatus::limit) throw;
  }
  if (asked.notes != nullptr) {
    const bool explain = asked.notes->explain;
    *asked.notes = {};
    asked.notes->explain = explain;
  }
  without.strategy = Strategy::none;  // a region needs all that it reads and makes at once
  Module plan = fitted();
  if (asked.notes != nullptr) asked.notes->swaps.push_back("nothing is fused: no fused plan was made to fit");
  return plan;
}

}  // namespace

std::span<const PassRow> pass_rows() { return rows; }

void run_behind(std::string_view name, Module& module, PassContext& context) {
  bool behind = false;
  for (const PassRow& pass : rows) {
    if (behind && runs(pass, module, context.options) && pass.run(module, context)) compact_values(module);
    behind = behind || pass.name == name;
  }
}

const PassRow& find_pass(std::string_view name, std::string_view option) {
  std::vector<std::string> names;
  std::string listed;
  for (const PassRow& pass : rows) {
    if (pass.name == name) return pass;
    names.emplace_back(pass.name);
    listed += (listed.empty() ? " " : ", ") + names.back();
  }
  const std::string near = nearest_name(name, names);
  fail(ExitStatus::usage, fmt::format("no pass is called '{}'", name), fmt::format("{} names passes", option),
       near.empty() ? "use one of" + listed : "did you mean '" + near + "'?");
}

Module optimize_exactly(Module module, LawChecker& laws, const OptimizeOptions& options) {
  require_valid(module, laws);
  record_reducer_laws(module, laws);
  return all_passes(std::move(module), laws, options);
}

Module run_passes(Module module, LawChecker& laws, const OptimizeOptions& options,
                  const std::vector<std::string>& names) {
  require_valid(module, laws);
  record_reducer_laws(module, laws);
  PassContext context{laws, options};
  for (const std::string& name : names) {
    const PassRow& pass = find_pass(name, "--passes");
    if (!runs_over_mesh(pass.when)) require_default_layouts(module);
    if (module.level < pass.from || module.level > pass.to) {
      fail(ExitStatus::bad_input, fmt::format("pass '{}' does not run on IR of level {}", name, module.level),
           pass.from == pass.to ? fmt::format("it takes level {}", pass.from)
                                : fmt::format("it takes levels {} to {}", pass.from, pass.to),
           module.level >= pass.from ? "give it the module as it was before"
           : pass.from > 2           ? "run 'place' and 'buffers' before it"
                                     : "run 'place' before it");
    }
    (void)run_pass(pass, module, context);
  }
  return module;
}

Module before_fusing(Module module, LawChecker& laws, const OptimizeOptions& options) {
  require_valid(module, laws);
  if (module.level >= 3) return module;
  record_reducer_laws(module, laws);
  PassContext context{laws, options};
  for (const PassRow& pass : rows) {
    if (pass.to >= 3) break;
    if (runs(pass, module, options)) (void)run_pass(pass, module, context);
  }
  return module;
}

Module before_tiling(Module module, LawChecker& laws, const OptimizeOptions& asked) {
  require_valid(module, laws);
  const OptimizeOptions options = over_mesh(module, asked);
  record_reducer_laws(module, laws);
  PassContext context{laws, options};
  for (const PassRow& pass : rows) {
    if (pass.name == "tile") break;
    if (runs(pass, module, options)) (void)run_pass(pass, module, context);
  }
  return module;
}

Module optimize(Module module, LawChecker& laws, const OptimizeOptions& asked) {
  if (asked.swap_memory > 0) return optimize_in_memory(std::move(module), laws, asked);
  const OptimizeOptions options = over_mesh(module, asked);
  if (!options.print_after.empty() && options.print_after != "all")
    (void)find_pass(options.print_after, "--print-after");
  require_valid(module, laws);
  if (module.level >= 3) return finished(std::move(module), laws, options);
  record_reducer_laws(module, laws);
  const bool explain = options.notes != nullptr && options.notes->explain && !over_workers(module, options);
  if (options.strategy != Strategy::cost && !explain) {
    Planned made = planned(module, laws, options);
    made.plan.planned_by = record_text({options, made.options});
    return std::move(made.plan);
  }
  OptimizeOptions chosen = options;
  chosen.memo = std::make_shared<PlanMemo>();
  StrategyChoice choice = weigh_strategies(module, laws, chosen);
  if (options.strategy == Strategy::cost) chosen.strategy = choice.chosen;
  chosen.bounded = options.strategy == Strategy::cost;
  Planned made = planned(module, laws, chosen);
  made.plan.planned_by = record_text({options, made.options});
  if (options.notes != nullptr) {
    if (options.strategy == Strategy::cost) options.notes->assume(choice.defaults);
    options.notes->strategies = std::move(choice);
  }
  if (explain) {
    const Module placed = before_fusing(std::move(module), laws, quiet(made.options));
    options.notes->points = materialization_points(placed, made.plan, options);
  }
  return std::move(made.plan);
}

}  // namespace kasen
