// Asks the solver whether a law of scalar functions holds (DESIGN section 4): for all numbers, and for the identity
// that a worker without a contribution holds. Solver steps bound the answer, never seconds, so it is deterministic.
#pragma once

#include <memory>
#include <string>

#include "libcore/laws/trial.h"

namespace kasen::prover {

class LawSolver {
 public:
  LawSolver();
  ~LawSolver();
  LawSolver(const LawSolver&) = delete;
  LawSolver& operator=(const LawSolver&) = delete;

  // The functions' types fit (law_misfit is empty). `refuted` comes with a counterexample that fails with the real
  // functions, `unknown` with a note; the basis is "proven". For LawKind::identity it says whether the result of
  // reducer_identity is one.
  [[nodiscard]] LawAnswer ask(const LawQuestion& question);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;  // made at the first question: it takes milliseconds
};

}  // namespace kasen::prover
