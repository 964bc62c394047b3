// The last use of each value, and whether a carried value may be handed on by a swap of storage or must be copied. One
// analysis for the verifier, the executor, the cost model and the pass that assigns buffers, so that they agree.
//
// Life of a value. A value lives from its definition to its last use *in the block that defines it*. An operator of
// this block uses what it or its blocks read. So a value from outside that a loop's body uses lives through the whole
// loop, and one that only one branch of an `if` uses lives through the whole `if`. Binding a value (below) is a use by
// the operator that holds the block. The exit of a loop reads its arguments before the body runs, and is no use inside
// the body. A `get` that is no copy is a view: every use of it is a use of the list. The same holds inside regions, but
// only a region's operands and results have storage.
//
// Bindings are simultaneous assignments of storage to storage:
//   entry      initial value -> argument of a loop       back   yielded value -> argument, at the end of each iteration
//   exit       argument -> result of a loop              then_branch, else_branch   yielded value -> result of an if
//   list_ops   put, push: operands[0] -> the result (the list), and the array -> its slot in the result (`element`)
// A binding *moves* (the storage behind the two names is swapped; a list's arrays one by one) if its source
//   - has storage of its own: it is neither a view nor an input without a buffer,
//   - has storage of the same form: equal BufferDecl at level 3 where both have a buffer, else equal types,
//   - is not used later on any path from there, and
//   - does not stand in an earlier binding of the same group that moves. The first one moves.
// Otherwise it *copies*. The body of a loop that is entered counts as later, and the next iteration uses values from
// outside the loop again. The other branch of an if does not count. `make_list` always copies. Copies read all sources
// before any target is overwritten.
//
// A list may be moved (by put, push, entry, back, exit or a branch) at or before the last use of one of its views. Such
// a view has to be a *copy*, made where `get` stands: copied_view(). The copy has storage of its own (at level 3 a
// buffer), does not extend the list's life, and may itself be moved.
#pragma once

#include <cstdint>
#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

enum class Handover : std::uint8_t { move, copy };

struct Binding {
  ValueId from = no_value, to = no_value;
  Handover how = Handover::copy;
};

// The results of the analysis for one operator. Bindings stand in the order of the results.
struct OpLiveness {
  std::vector<ValueId> dies;  // values of this operator's block whose life ends here, unused results included
  std::vector<Binding> entry, back, exit;         // loops (for_loop: without lo, hi and the variable i)
  std::vector<Binding> then_branch, else_branch;  // if_else
  std::vector<Binding> list;                      // put, push: one, the list itself
  std::vector<Binding> element;                   // put, push: one, `to` being the list that receives it
};

class Liveness {
 public:
  // Expects the structure that parse_module guarantees. Every operand is defined before it in scope. Blocks end with
  // yield, with as many yielded values as arguments and results. Throws InternalError where that fails.
  explicit Liveness(const Module& module);

  // By preorder number (for_each_op).
  [[nodiscard]] const OpLiveness& at(int number) const { return ops_[static_cast<size_t>(number)]; }
  // The preorder number of the last operator of the defining block that uses the value; -1 if there is none.
  [[nodiscard]] int last_use(ValueId value) const { return last_use_[value]; }
  // The list that a `get` looks into, or no_value. A copied view still names its list here.
  [[nodiscard]] ValueId viewed_list(ValueId value) const { return viewed_[value]; }
  [[nodiscard]] bool copied_view(ValueId value) const { return copied_[value]; }
  // True for a `get` that has no storage of its own. Values that a kernel form adds to the plan's are none.
  [[nodiscard]] bool is_view(ValueId value) const {
    return value < viewed_.end_id() && viewed_list(value) != no_value && !copied_view(value);
  }

 private:
  friend class LivenessBuilder;
  std::vector<OpLiveness> ops_;
  IdMap<ValueId, int> last_use_;
  IdMap<ValueId, ValueId> viewed_;
  IdMap<ValueId, bool> copied_;
};

}  // namespace kasen
