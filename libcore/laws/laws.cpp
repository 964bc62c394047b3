#include "libcore/laws/laws.h"

#include <algorithm>
#include <utility>

#include "libcore/laws/cases.h"
#include "libcore/laws/coordinates.h"
#include "libcore/laws/parts.h"
#include "libcore/laws/shapes.h"
#include "libcore/laws/trial.h"

namespace kasen {
namespace {

// True if there are so few truth values, the second contribution included, that a trial covers every case.
bool tried_completely(const ScalarFunction& fn, std::int64_t most_points) {
  const auto truth = [](const ScalarParam& p) { return p.type.is(Scalar::boolean); };
  return fn.params.size() < 20 && (std::int64_t{2} << fn.params.size()) <= most_points &&
         std::all_of(fn.params.begin(), fn.params.end(), truth);
}

bool known_algebra(LawKind kind, const ScalarFunction& fn) {
  const Algebra algebra = algebra_of(fn);
  if (algebra == Algebra::other) return false;
  const bool counts = algebra == Algebra::sum || algebra == Algebra::product || algebra == Algebra::differing_bits;
  return kind != LawKind::idempotent || !counts;
}

LawAnswer answer_whole(const LawQuestion& question, std::int64_t most_points);

// A law of a reducer also holds if it holds for each part of its elements. The weakest basis is that of all.
LawAnswer answer(const LawQuestion& question, std::int64_t most_points) {
  LawAnswer whole = answer_whole(question, most_points);
  if (whole.verdict != Verdict::unknown || is_map_law(question.kind)) return whole;
  const std::vector<ScalarFunction> parts = parts_of(question.fn);
  if (parts.empty()) return whole;
  LawAnswer all{Verdict::proven, "built-in", {}, {}};
  for (const ScalarFunction& part : parts) {
    LawAnswer one = answer_whole({question.kind, part, part, question.operand}, most_points);
    if (one.verdict != Verdict::proven) return whole;
    if (one.basis != "built-in" && all.basis != "trial") all.basis = std::move(one.basis);
  }
  return all;
}

LawAnswer answer_whole(const LawQuestion& question, std::int64_t most_points) {
  std::string misfit = law_misfit(question);
  if (!misfit.empty()) return {Verdict::refuted, "trial", std::move(misfit), {}};
  const bool map = is_map_law(question.kind);
  if (const auto one = map ? std::nullopt : with_one_coordinate(question.fn)) {
    LawAnswer of_one = answer({question.kind, *one, *one, question.operand}, most_points);
    if (of_one.verdict == Verdict::proven) return of_one;
  }
  if (question.kind == LawKind::identity) {
    if (algebra_of(question.fn) != Algebra::other) return {Verdict::proven, "built-in", {}, {}};
    if (law_by_cases(question) == ByCases::holds) return {Verdict::proven, "proven", {}, {}};
    if (reducer_identity(question.fn)) return {Verdict::proven, "trial", {}, {}};
    return {Verdict::unknown, "trial", {}, "no candidate for an identity element serves all values that were tried"};
  }
  const bool obvious =
      map ? law_by_shape(question.kind, question.fn, question.reducer, static_cast<int>(question.operand))
          : known_algebra(question.kind, question.fn);
  if (obvious) return {Verdict::proven, "built-in", {}, {}};
  const ByCases decided = law_by_cases(question);
  if (decided == ByCases::holds) return {Verdict::proven, "proven", {}, {}};
  if (decided == ByCases::of_numbers) {
    std::string noticed = identity_noticed(question, most_points);
    if (!noticed.empty()) return {Verdict::unknown, "proven", {}, std::move(noticed)};
  }
  std::string found = try_law(question, most_points);
  if (!found.empty()) return {Verdict::refuted, "trial", std::move(found), {}};
  const bool exact = is_exact(question.fn) && is_exact(question.reducer);
  // For maps on bools, a trial covers every case, the identity included. A reducer without a counterexample among small
  // values passes if there is no better check.
  if (exact && (!map || tried_completely(question.fn, most_points))) return {Verdict::proven, "trial", {}, {}};
  return {Verdict::unknown, "trial", {}, "no counterexample was found among small values"};
}

}  // namespace

LawAnswer LawChecker::reducer(const Module& module, FnId fn) {
  LawAnswer associative = law(module, LawKind::associative, fn, fn, 0);
  if (associative.verdict != Verdict::proven) return associative;
  LawAnswer commutative = law(module, LawKind::commutative, fn, fn, 0);
  if (commutative.verdict != Verdict::proven || associative.basis == "built-in") return commutative;
  return associative;
}

LawAnswer TrialLawChecker::law(const Module& module, LawKind kind, FnId id, FnId by, int operand) {
  const ScalarFunction& fn = module.fn(id);
  const ScalarFunction& reducer = module.fn(is_map_law(kind) ? by : id);
  return known_.answer(kind, fn, reducer, operand, [&] {
    return answer({kind, fn, reducer, static_cast<size_t>(operand)}, most_points_);
  });
}

}  // namespace kasen
