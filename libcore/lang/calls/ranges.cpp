#include "libcore/lang/calls/ranges.h"

#include <algorithm>
#include <map>
#include <utility>

#include "libcore/analysis/value_ranges.h"
#include "libcore/ir/products.h"
#include "libcore/laws/laws.h"
#include "libcore/laws/shapes.h"

namespace kasen::lang {
namespace {

constexpr std::int64_t trial_points = 160;  // as many as the prover tries

template <class Visit>
void for_reductions(const Block& block, const Visit& visit) {
  for (const Op& op : block.ops) {
    if (op.code == OpCode::reduce || op.code == OpCode::reduce_by || reduces_terms(op)) visit(op);
    for (const Block& inner : op.blocks) for_reductions(inner, visit);
  }
}

// The range that reaches each reducer, wherever it is used. The well-known reducers are left out.
std::map<FnId, ElementRange> reached_ranges(const Module& m) {
  std::map<FnId, ElementRange> found;
  const auto doubtful = [&](const Op& op) { return algebra_of(m.fn(op.fns.back())) == Algebra::other; };
  bool any = false;
  for_reductions(m.body, [&](const Op& op) { any = any || doubtful(op); });
  if (!any) return found;
  const ValueRanges values(m);
  for_reductions(m.body, [&](const Op& op) {
    if (!doubtful(op)) return;
    const auto [known, first] = found.emplace(op.fns.back(), values.reached(op));
    if (!first) known->second = join(known->second, values.reached(op));
  });
  return found;
}

ScalarFunction with_range(ScalarFunction fn, const ElementRange& range) {
  for (ScalarParam& param : fn.params) param.range = as_declared(range);
  return fn;
}

LawAnswer laws_of(const ScalarFunction& reducer) {
  Module alone;
  alone.functions.push_back(reducer);
  return TrialLawChecker(trial_points).reducer(alone, FnId(0));
}

bool is_proven(const LawAnswer& answer) { return answer.verdict == Verdict::proven && answer.basis != "trial"; }

bool closed(const ScalarFunction& plain, const ElementRange& range) {
  const std::vector<ElementRange> both{range, range};
  return contains(range, range_of(plain, both));
}

// Only the signs of the numbers.
ElementRange signs_of(ElementRange range) {
  for (Interval& i : range) {
    Interval sign;
    if (i.low >= 0) sign = {0, sign.high, i.positive()};
    if (i.high <= 0) sign = {sign.low, 0, false, i.negative()};
    if (i.low < 0 && i.high > 0) sign.not_zero = i.not_zero;
    i = sign;
  }
  return range;
}

// The range in which the reducer's laws hold, no narrower than they need. If they fail even in the known range, the
// result is that range: then a counterexample has numbers that the program can meet.
ElementRange lawful_range(const ScalarFunction& plain, const ElementRange& known) {
  const ElementRange signs = signs_of(known);
  const bool enough = closed(plain, signs) && laws_of(with_range(plain, signs)).verdict != Verdict::refuted;
  ElementRange range = as_declared(enough ? signs : known);
  const ScalarFunction whole = with_range(plain, range);
  if (!is_proven(laws_of(whole))) return range;  // the needed range cannot be decided
  const bool identity = reducer_identity(whole).has_value();
  keep_needed(range, {}, [&] {
    const ScalarFunction fn = with_range(plain, range);
    if (!range.empty() && !closed(plain, range)) return false;
    return is_proven(laws_of(fn)) && reducer_identity(fn).has_value() == identity;
  });
  return range;
}

// The range with which the program is to be lowered. Empty if the reducer has no counterexample or nothing is known.
ElementRange needed_range(const ScalarFunction& plain, const ElementRange& known) {
  if (as_declared(known).empty() || laws_of(plain).verdict != Verdict::refuted) return {};
  return lawful_range(plain, known);
}

}  // namespace

ScalarFunction without_ranges(ScalarFunction fn) {
  for (ScalarParam& param : fn.params) param.range.clear();
  return fn;
}

bool learn_ranges(const Module& module, const std::map<FnId, ScalarFunction>& masked, ReducerRanges& ranges) {
  bool changed = false;
  for (auto [id, reached] : reached_ranges(module)) {
    const auto mask = masked.find(id);
    if (mask != masked.end()) reached.erase(reached.begin());
    const ScalarFunction plain = mask != masked.end() ? mask->second : without_ranges(module.fn(id));
    const ElementRange known = closed_under(plain, std::move(reached));
    const auto learned =
        std::find_if(ranges.begin(), ranges.end(), [&](const ReducerRange& r) { return r.reducer == plain; });
    if (learned == ranges.end()) {
      ranges.push_back({plain, needed_range(plain, known)});
      changed = changed || !ranges.back().range.empty();
    } else if (!learned->range.empty() && !contains(learned->range, known)) {
      learned->range = as_declared(join(learned->range, known));  // the program as lowered now has other ranges
      changed = true;
    }
  }
  return changed;
}

}  // namespace kasen::lang
