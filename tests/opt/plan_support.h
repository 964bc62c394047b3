// What the tests of the optimizer share: examples compiled and optimized, figures per turn, shapes of plans.
#pragma once

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "libcore/lang/lang.h"
#include "libcore/run/executor.h"
#include "libopt/cost/cost.h"
#include "libopt/optimize/optimize.h"

namespace kasen {

inline Module compile(const std::string& text, const std::map<std::string, std::string>& defines = {}) {
  return compile_program(text, "test.ks", defines);
}

inline Module example(const std::string& name, const std::map<std::string, std::string>& defines = {}) {
  std::ifstream file(KASEN_ROOT "/examples/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return compile_program(text.str(), name, defines);
}

inline Module plan(const Module& program, Strategy strategy, SyncMode sync, bool split = true, bool epilogue = false) {
  static TrialLawChecker laws;  // remembers its answers
  OptimizeOptions options;
  options.strategy = strategy;
  options.sync = sync;
  options.split = split;
  options.epilogue = epilogue;
  return optimize(program, laws, options);
}

// What makes plans of its own: cost takes one of these.
inline constexpr Strategy plan_strategies[] = {Strategy::none, Strategy::greedy, Strategy::fuse_all,
                                               Strategy::fuse_no_redundancy, Strategy::mpskip};
inline constexpr bool selects(Strategy strategy) { return strategy != Strategy::none && strategy != Strategy::greedy; }

struct IterationFigures {
  std::string read, written, network;
};

// The model's figures of one turn of loop number `which`, in the paper's form.
inline IterationFigures per_iteration(const Module& module, size_t which = 0) {
  const CostReport report = measure(module);
  const SymbolNames names(module);
  const Cost& iteration = report.loops.at(which).model;
  const auto text = [&](const Polynomial& p) { return paper_form(p).text(names); };
  return {text(iteration.read), text(iteration.written), text(iteration.network)};
}

// The operators' names in preorder, but for those of the groups source and end; regions by their kind, with what stands
// inside in parentheses.
inline std::string shape(const Block& block) {
  std::string text;
  for (const Op& op : block.ops) {
    const OpGroup group = row(op.code).group;
    if (group == OpGroup::source || group == OpGroup::end) continue;
    if (!text.empty()) text += ' ';
    text += op.code == OpCode::region ? std::string(region_name(op.kind)) : std::string(row(op.code).name);
    for (const Block& inner : op.blocks) text += '(' + shape(inner) + ')';
  }
  return text;
}

inline int count_ops(const Module& module, OpCode code) {
  int count = 0;
  for_each_op(module, [&](const Op& op, int, int) { count += op.code == code ? 1 : 0; });
  return count;
}

inline const Op* first_op(const Module& module, OpCode code) {
  const Op* found = nullptr;
  for_each_op(module, [&](const Op& op, int, int) {
    if (found == nullptr && op.code == code) found = &op;
  });
  return found;
}

inline std::vector<std::string> names_of(const Module& module, const std::vector<ValueId>& values) {
  std::vector<std::string> names;
  for (const ValueId v : values) names.push_back(module.value(v).name);
  return names;
}

}  // namespace kasen
