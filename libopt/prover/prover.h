// The LawChecker of plan, fuse and measure: shapes that are known, a cheap trial that refutes, and the solver for the
// rest.
#pragma once

#include "libcore/laws/laws.h"
#include "libopt/prover/law_solver.h"

namespace kasen {

class Prover : public LawChecker {
 public:
  [[nodiscard]] LawAnswer law(const Module& module, LawKind kind, FnId fn, FnId by, int operand) override;

 private:
  LawMemory known_;             // what the solver was asked
  TrialLawChecker trial_{160};  // what these do not refute the solver decides
  prover::LawSolver solver_;
};

}  // namespace kasen
