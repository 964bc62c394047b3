#include "libcore/lang/lower.h"

#include <utility>

#include "libcore/lang/definition_check.h"

namespace kasen::lang {

Lowering::Lowering(const SourceText& source, Module start, const Declarations::Defines& defines,
                   const ReducerRanges& ranges)
    : builder_(source, std::move(start)),
      scopes_(source),
      functions_(source, scopes_),
      formulas_(source, builder_),
      values_(source, builder_, functions_, formulas_),
      evaluator_(source, builder_, values_),
      types_(source, builder_, scopes_, evaluator_),
      part_(source, builder_, scopes_, functions_, formulas_, values_, types_, evaluator_),
      calls_(part_, frames_),
      reducers_(part_, calls_, ranges),
      folds_(part_, calls_, reducers_),
      contractions_(part_),
      matrix_products_(part_, calls_, reducers_, folds_, contractions_),
      reductions_(part_, reducers_, folds_),
      views_(part_, contractions_),
      generators_(part_),
      along_axis_(part_, reducers_),
      rearrangements_(part_),
      renaming_(part_),
      axis_words_(part_, renaming_),
      axes_apart_(part_, renaming_),
      linear_(part_),
      products_(part_, calls_, reducers_, folds_, matrix_products_, reductions_, views_, contractions_),
      indexed_(part_, frames_, reducers_, contractions_),
      definitions_(part_, frames_, indexed_, axes_apart_),
      lists_(part_),
      elements_(part_),
      expressions_(part_, frames_, calls_, axis_words_, lists_, elements_, products_, indexed_, definitions_),
      declarations_(part_, folds_, defines),
      assumptions_(part_, reducers_),
      statements_(part_, folds_, definitions_, declarations_, lists_, elements_) {}

Module Lowering::run(const Program& program) {
  const std::vector<Statement>& all = program.statements();
  const auto each = [&](StatementKind kind, const auto& visit) {
    for (const Statement& s : all) {
      if (s.kind == kind) visit(s);
    }
  };
  each(StatementKind::function, [&](auto& s) { statements_.collect([&] { functions_.declare(s); }); });
  each(StatementKind::definition, [&](auto& s) { statements_.collect([&] { functions_.declare(s); }); });
  for (const Program::Use& use : program.uses()) {
    statements_.collect([&] { functions_.declare_use(all[use.statement], use.from, use.to); });
  }
  functions_.declare_prelude();
  for (const Program::Found& found : program.found()) functions_.declare_found(found.name, found.file);
  statements_.refuse(definition_faults(all, program.source(), functions_));  // bodies are lowered by calls alone
  each(StatementKind::assume, [&](auto& s) { statements_.collect([&] { reducers_.declare_identity(s); }); });
  statements_.program(all);
  if (!statements_.faulty()) {
    each(StatementKind::assume, [&](auto& s) { assumptions_.add(s); });
    each(StatementKind::function, [&](auto& s) { statements_.collect([&] { calls_.check(s); }); });
  }
  if (statements_.faulty()) statements_.throw_faults();
  declarations_.check_defines();
  declarations_.append_outputs();
  return builder_.take();
}

}  // namespace kasen::lang
