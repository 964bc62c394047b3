// The state rules (DESIGN section 4; KASEN's Table 1 with its numbers, and rule 0). They give the storage state of an
// operator's result from the states of its operands. The verifier and the placement of transitions call one function.
//
//   0  a C value may be read as P: its owned elements, a free local view
//   1  PR -gather-> P -scatter-> C for distributed arrays        2  the same for shareds
//   3  shareds take C and give C (so does every shared operand of a vector operator or product, and every operand that
//      is not cut like the operator, over the axes of the mesh along which they differ: mesh_rules.h)
//   4  reduce(F, P) gives PR(F)                                   5  reduce(F, PR(F)) gives PR(F)
//      (over the mesh's axes that cut a reduced dimension)
//   6  mxv: C over the rows read, PR(R) over the columns          7  mxvt: C over the columns, PR(R) over the rows
//      (fold_cols, fold_rows: likewise, and C over the result's own axis for operands of that side)
//   8  map on P gives P         9  map on C gives C, the set is kept
//   (8 and 9 hold for the views range and transpose, too)
//   10 map on PR, exchange law  11 map on PR, pushdown law (owned elements only)
//   12 zipwith on P gives P     13 zipwith on C gives C over the intersection of the sets
//   14 zipwith on PR and C, distributive law; each C operand's set contains the PR operand's
//   15 zipwith on PR and P or C, pushdown law (owned elements only)
//   17 dense products, axis by axis of the mesh: it cuts one label, of all operands that have it; the others are C over
//      it. Where it cuts the summed label the result is PR over it, else cut alike.
// Sets of ghosts name axes of the mesh, too; all rules hold for each axis (mesh_rules.h).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libcore/ir/module.h"
#include "libcore/laws/laws.h"

namespace kasen {

struct RuleAnswer {
  bool allowed = false;
  int rule = -1;               // the rule that gives the result, or the one that is broken; -1: none is involved
  std::vector<State> results;  // one for each result, if allowed
  std::optional<LawUse> law;   // the law that the result relies on (rules 10, 11, 14, 15), with its basis
  std::string why, remedy;     // if not allowed
};

// The strongest result states that the rules allow for `op`, whose operands have the given states. Where the rules
// leave a choice (fill, index: any state but PR; scatter: its slave set), the declared result decides: P or the empty
// set if that is unplaced. Lists keep one state. Control and end operators give the declared states. A law that
// Module::laws names is accepted first, then the user's assumptions, then the answer of `laws`. Expects an operator
// whose types and shapes are right (verify_module checks them first).
[[nodiscard]] RuleAnswer apply_rule(const Module& module, const Op& op, std::span<const State> operands,
                                    LawChecker& laws);
[[nodiscard]] RuleAnswer apply_rule(const Module& module, const Op& op, LawChecker& laws);  // states of the types

// True if a value of state `given` may be used where `wanted` is declared: the same state, or a C value read as P (rule
// 0). This holds for an operator's declared result, initial and yielded values of loops, and the branches of `if`.
[[nodiscard]] bool may_stand_for(const State& given, const State& wanted);

// The law by which a map with a pre-reduced operand runs, as Module::laws lists it; nothing for other operators.
// exchange and distributive: the function runs on owned and ghost elements. pushdown: it runs on owned elements only,
// and the ghosts keep their values. Executor and kernels call this, so that they run the form the verifier accepted.
[[nodiscard]] const LawUse* law_in_force(const Module& module, const Op& op);

// "@part", "@cons{G.rows}", "@pre(add){G.cols}", as in the text form.
[[nodiscard]] std::string state_text(const Module& module, const State& state);

}  // namespace kasen
