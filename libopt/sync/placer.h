// Gives every value a storage state and puts gather and scatter where states differ (DESIGN section 4, SYSTEMS 1). The
// rules themselves are in libcore/analysis/state_rules.h: this only decides when to move.
//
//   hybrid  a pre-reduced value is gathered where it is made, and everything is P; a product's operand is scattered
//           before the product, to the ghosts that the products which read it need
//   eager   gathers, and scatters to all ghosts that are needed downstream, both where the value is made
//   lazy    a value stays pre-reduced through lawful maps; gathers and scatters together where a rule first fails
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "libcore/analysis/value_ranges.h"
#include "libcore/ir/layout.h"
#include "libcore/laws/laws.h"
#include "libopt/options/options.h"
#include "libopt/sync/ahead.h"
#include "libopt/sync/needs.h"
#include "libopt/sync/versions.h"

namespace kasen {

struct Placement {
  IdMap<ValueId, SyncMode> modes;  // of the module's values
  bool in_one_space = false;       // operands of products with one matrix have common ghosts (Needs)
};

class Placer {
 public:
  // A value that is made or read is placed by its own mode.
  Placer(Module& module, LawChecker& laws, const OptimizeOptions& options, Placement placement)
      : m_(module),
        laws_(laws),
        options_(options),
        modes_(std::move(placement.modes)),
        needs_(module, placement.in_one_space),
        forms_(module) {
    for (const Op* branch : made_ahead(module)) ahead_.push_back(branch != nullptr);
  }

  void run();

 private:
  // The state to restore when a choice of states for carried values fails.
  struct Mark {
    IdMap<ValueId, Value> values;
    IdMap<FnId, ScalarFunction> functions;
    std::vector<LawUse> laws;
    Versions forms;
  };
  [[nodiscard]] Mark mark() const { return {m_.values, m_.functions, m_.laws, forms_}; }
  void take_back(const Mark& mark);

  [[nodiscard]] SyncMode mode(ValueId v) const { return modes_[v]; }
  [[nodiscard]] bool hybrid(ValueId v) const { return mode(v) == SyncMode::hybrid; }
  [[nodiscard]] bool shared(ValueId v) const { return Layout(m_, v).is_shared(); }
  // Returns the state in which this mode would have a value, if it is free to choose.
  [[nodiscard]] State wanted(ValueId v) const;

  void place(const Op& op);
  void place_block(const Block& block);  // all but the yield, into the open frame
  void emit(Op op, std::vector<State> results);
  void made(ValueId result);  // the mode's action right behind a producer
  // The value is made in vain if the branch does not run, so it is sent where the branch asks for it.
  [[nodiscard]] bool ahead(ValueId v) const { return ahead_.contains(v) && ahead_[v]; }

  // Returns the form of an operand that a map, a reduction, a list operator or an output reads.
  [[nodiscard]] ValueId read(ValueId v);
  // Returns the same for an operator that reads values: a pre-reduced value is gathered.
  [[nodiscard]] ValueId read_resolved(ValueId v);
  void gather(ValueId v);  // and scatters to the needed ghosts, except for hybrid
  ValueId read_consistent(ValueId v, const SlaveSet& reads);
  // Returns the form of operand i of `op`: consistent on every worker if it is read whole.
  [[nodiscard]] ValueId read_operand(const Op& op, size_t i);
  // Returns a form that may be bound to a name of state `target`. Returns nothing if that would take a transition that
  // a weaker target avoids; `other` is then the state that the value could bring.
  [[nodiscard]] std::optional<ValueId> bring(ValueId v, const State& target, State& other);

  void vector(const Op& op);
  [[nodiscard]] bool lawful(const Op& op);  // emits it if the rules allow it with these operands
  // Returns the position of the one pre-reduced operand, or -1.
  [[nodiscard]] int pre_reduced(const Op& op);
  // Returns the same function with declared ranges of the operands' known numbers, if a law holds for these numbers.
  [[nodiscard]] std::optional<FnId> in_known_ranges(const Op& op, const Op& placed);
  [[nodiscard]] bool split(const Op& op, int depth = 0);  // replaces an unlawful map by a chain of lawful ones
  bool level_operands(const Op& op);  // scatters P operands that meet C ones where a C result is needed
  void product(const Op& op);
  [[nodiscard]] ValueId read_exactly(ValueId v, const SlaveSet& slaves);
  void fold(const Op& op);
  void list(const Op& op);
  void loop(const Op& op);
  void branches(const Op& op);
  using Try = bool (Placer::*)(const Op& op, std::vector<State>& targets);
  void until_settled(const Op& op, std::vector<State> targets, Try attempt);
  [[nodiscard]] bool try_loop(const Op& op, std::vector<State>& targets);
  [[nodiscard]] bool try_branches(const Op& op, std::vector<State>& targets);
  // Brings the yielded values to `targets`; weakens the target where that fails.
  [[nodiscard]] bool settle(const Op& yield, std::vector<State>& targets, std::vector<ValueId>& out);

  Module& m_;
  LawChecker& laws_;
  const OptimizeOptions& options_;
  IdMap<ValueId, SyncMode> modes_;
  Needs needs_;
  IdMap<ValueId, bool> ahead_;         // by value of the program: made before the likely branch that it is for
  std::optional<ValueRanges> ranges_;  // of the program's values, once they are asked for
  Versions forms_;
  std::vector<Op> outputs_;
  int tries_ = 0;
};

}  // namespace kasen
