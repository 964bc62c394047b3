/// \file
/// The LawChecker of plan, fuse and measure: known shapes, a cheap trial that refutes, and the solver for the rest.
#pragma once

#include "libcore/laws/laws.h"
#include "libopt/prover/law_solver.h"

namespace kasen {

class Prover : public LawChecker {
 public:
  [[nodiscard]] LawAnswer law(const Module& module, LawKind kind, FnId fn, FnId by, int operand) override;

 private:
  LawMemory known_;             ///< the solver's answers so far
  TrialLawChecker trial_{160};  ///< the solver decides laws that these trials do not refute
  prover::LawSolver solver_;
};

}  // namespace kasen
