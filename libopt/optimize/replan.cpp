#include "libopt/optimize/replan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/lang/lang.h"
#include "libopt/optimize/optimize.h"

namespace kasen {
namespace {

// The options that `kasen fuse` may have had, the usual ones first. Those for which sizes decide come last.
std::vector<OptimizeOptions> ways() {
  std::vector<OptimizeOptions> all;
  for (const SyncMode sync : {SyncMode::hybrid, SyncMode::eager, SyncMode::lazy, SyncMode::automatic}) {
    for (const bool split : {true, false}) {
      if (!split && sync != SyncMode::lazy) continue;
      for (const bool epilogue : {false, true}) {
        for (const Strategy strategy :
             {Strategy::greedy, Strategy::none, Strategy::fuse_no_redundancy, Strategy::fuse_all, Strategy::mpskip}) {
          if (strategy == Strategy::none && epilogue) continue;
          OptimizeOptions options;
          options.strategy = strategy;
          options.sync = sync;
          options.epilogue = epilogue;
          options.split = split;
          all.push_back(options);
        }
      }
    }
  }
  OptimizeOptions by_size;
  by_size.epilogue = by_size.epilogue_by_size = true;
  all.push_back(by_size);
  return all;
}

}  // namespace

std::optional<Module> program_of(const Module& plan) {
  if (plan.source.empty()) return std::nullopt;
  std::string text;
  for (const std::string& line : plan.source) text += line + '\n';
  std::map<std::string, std::string> defines;
  for (const Constant& constant : plan.constants) {
    defines[constant.name] =
        is_float(constant.scalar) ? fmt::format("{}", constant.value.f) : fmt::format("{}", constant.value.i);
  }
  Module program;
  try {
    program = compile_program(text, plan.source_name, defines);
  } catch (const UserError&) {
    return std::nullopt;
  }
  for (Op& op : program.body.ops) {
    if (op.code != OpCode::param) continue;
    const auto same = [&](const Op& other) { return other.code == OpCode::param && other.name == op.name; };
    const auto found = std::find_if(plan.body.ops.begin(), plan.body.ops.end(), same);
    if (found != plan.body.ops.end() && found->literal.size() == op.literal.size()) op.literal = found->literal;
  }
  program.fitted_to = plan.fitted_to;
  return program;
}

std::optional<Replanned> plan_again(const Module& plan, LawChecker& laws,
                                    const std::function<Sizes(const Module&)>& sizes, const MachineProfile& machine) {
  const std::optional<Module> program = program_of(plan);
  if (!program) return std::nullopt;
  const std::string wanted = print_module(plan, false);
  for (const OptimizeOptions& way : ways()) {
    OptimizeOptions options = way;
    options.sizes = sizes;
    options.machine = machine;
    if (print_module(optimize(*program, laws, options), false) != wanted) continue;
    Replanned made{way, {}};
    made.notes.explain = true;
    options.notes = &made.notes;
    (void)optimize(*program, laws, options);
    return made;
  }
  return std::nullopt;
}

}  // namespace kasen
