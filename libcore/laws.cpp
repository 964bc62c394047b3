#include "libcore/laws.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "libcore/exact.h"
#include "libcore/law_shapes.h"

namespace kasen {
namespace {

// Points to try: fewer for functions with long loops over coordinates.
std::int64_t trial_points(const ScalarFunction& fn) {
  return static_cast<std::int64_t>(std::clamp(400'000.0 / exact_steps(fn), 64.0, 4096.0));
}

// A value that carries how it was computed, exactly, with the real functions, and in words.
struct Term {
  std::optional<Planes> exact;
  std::vector<Word> words;
  std::string text;
};

Term leaf(const ElementType& type, const Planes& value) {
  return Term{value, to_words(type, value), planes_text(type, value)};
}

Term call(const ScalarFunction& fn, const std::vector<const Term*>& args) {
  Term term{std::nullopt, std::vector<Word>(static_cast<size_t>(fn.result().planes())), fn.name + '('};
  std::vector<Planes> exact;
  std::vector<std::span<const Word>> words;
  for (const Term* arg : args) {
    term.text += (arg == args.front() ? "" : ", ") + arg->text;
    words.emplace_back(arg->words);
    if (arg->exact) exact.push_back(*arg->exact);
  }
  term.text += ')';
  if (exact.size() == args.size()) term.exact = evaluate_exactly(fn, exact);
  evaluate(fn, words, term.words);
  return term;
}

Term call2(const ScalarFunction& fn, const Term& a, const Term& b) { return call(fn, {&a, &b}); }

bool same_words(const ElementType& type, const std::vector<Word>& a, const std::vector<Word>& b) {
  for (size_t p = 0; p < a.size(); ++p) {
    const bool real = is_float(type.plane_scalar(static_cast<std::int64_t>(p)));
    const bool same = real ? a[p].f == b[p].f || (a[p].f != a[p].f && b[p].f != b[p].f) : a[p].i == b[p].i;
    if (!same) return false;
  }
  return true;
}

// What speaks against left = right; empty if nothing does, or if one side is not defined here.
std::string against(const ElementType& type, const Term& left, const Term& right) {
  if (!left.exact || !right.exact || *left.exact == *right.exact || same_words(type, left.words, right.words))
    return {};
  return fmt::format("{} = {} but {} = {}", left.text, planes_text(type, *left.exact), right.text,
                     planes_text(type, *right.exact));
}

// ---- reducers

std::string try_reducer(const ScalarFunction& fn) {
  const ElementType& type = fn.result();
  const std::array<ElementType, 3> types{type, type, type};
  std::string found;
  for_points(types, trial_points(fn), [&](std::span<const Planes> at) {
    const Term a = leaf(type, at[0]);
    const Term b = leaf(type, at[1]);
    const Term c = leaf(type, at[2]);
    const Term ab = call2(fn, a, b);
    found = against(type, call2(fn, ab, c), call2(fn, a, call2(fn, b, c)));
    if (found.empty()) found = against(type, ab, call2(fn, b, a));
    return found.empty();
  });
  return found;
}

LawAnswer answer_reducer(const ScalarFunction& fn) {
  const bool typed = fn.params.size() == 2 && fn.params[0].type == fn.result() && fn.params[1].type == fn.result();
  if (!typed) return {Verdict::refuted, "trial", fn.name + " does not take two elements of its result's type"};
  if (algebra_of(fn) != Algebra::other) return {Verdict::proven, "built-in", {}};
  if (!is_exact(fn)) return {Verdict::unknown, "trial", {}};
  std::string found = try_reducer(fn);
  if (!found.empty()) return {Verdict::refuted, "trial", std::move(found)};
  return {Verdict::proven, "trial", {}};
}

// ---- laws

struct LawTrial {
  LawKind kind;
  const ScalarFunction& fn;
  const ScalarFunction& reducer;
  size_t operand;

  [[nodiscard]] Term apply(const Term& x, const std::vector<Term>& others) const {
    std::vector<const Term*> args;
    for (size_t i = 0; i < fn.params.size(); ++i) args.push_back(i == operand ? &x : &others[i]);
    return call(fn, args);
  }

  // at: one value for each parameter (the pre-reduced one's is a), then b.
  [[nodiscard]] std::string fault(std::span<const Planes> at) const {
    std::vector<Term> args;
    for (size_t i = 0; i < fn.params.size(); ++i) args.push_back(leaf(fn.params[i].type, at[i]));
    const ElementType& type = fn.result();
    const Term& a = args[operand];
    const Term b = leaf(type, at.back());
    const Term whole = apply(call2(reducer, a, b), args);
    if (kind != LawKind::pushdown) return against(type, whole, call2(reducer, apply(a, args), apply(b, args)));
    std::string found = against(type, whole, call2(reducer, apply(a, args), b));
    return found.empty() ? against(type, whole, call2(reducer, a, apply(b, args))) : found;
  }
};

bool all_bool(const ScalarFunction& fn) {
  const auto truth = [](const ScalarParam& p) { return p.type.is(Scalar::boolean); };
  return fn.params.size() <= 10 && std::all_of(fn.params.begin(), fn.params.end(), truth);
}

LawAnswer answer_law(LawKind kind, const ScalarFunction& fn, const ScalarFunction& reducer, int operand) {
  const auto place = static_cast<size_t>(operand);
  const bool fits = operand >= 0 && place < fn.params.size() && fn.params[place].type == fn.result() &&
                    reducer.params.size() == 2 && reducer.params[0].type == fn.result() &&
                    reducer.params[1].type == fn.result() && reducer.result() == fn.result();
  if (!fits) return {Verdict::refuted, "trial", fn.name + " does not keep the type that " + reducer.name + " reduces"};
  if (law_by_shape(kind, fn, reducer, operand)) return {Verdict::proven, "built-in", {}};
  if (!is_exact(fn) || !is_exact(reducer)) return {Verdict::unknown, "trial", {}};
  std::vector<ElementType> types;
  for (const ScalarParam& param : fn.params) types.push_back(param.type);
  types.push_back(fn.result());
  const LawTrial trial{kind, fn, reducer, place};
  std::string found;
  for_points(types, std::min(trial_points(fn), trial_points(reducer)), [&](std::span<const Planes> at) {
    found = trial.fault(at);
    return found.empty();
  });
  if (!found.empty()) return {Verdict::refuted, "trial", std::move(found)};
  if (all_bool(fn)) return {Verdict::proven, "trial", {}};  // every case was tried, the identity among them
  return {Verdict::unknown, "trial", {}};
}

// ---- identities

constexpr std::array<double, 15> real_trials{0,
                                             1,
                                             -1,
                                             2,
                                             -2,
                                             0.5,
                                             -0.5,
                                             3,
                                             1e30,
                                             -1e30,
                                             1e-30,
                                             3.402823466e+38,
                                             -3.402823466e+38,
                                             std::numeric_limits<double>::infinity(),
                                             -std::numeric_limits<double>::infinity()};

std::int64_t lowest(Scalar s) {
  return s == Scalar::i32 ? std::numeric_limits<std::int32_t>::min() : std::numeric_limits<std::int64_t>::min();
}
std::int64_t highest(Scalar s) {
  return s == Scalar::i32 ? std::numeric_limits<std::int32_t>::max() : std::numeric_limits<std::int64_t>::max();
}

std::vector<Word> identity_candidates(Scalar s) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (is_float(s)) return {Word::real(0), Word::real(1), Word::real(infinity), Word::real(-infinity)};
  if (s == Scalar::boolean) return {Word::integer(0), Word::integer(1)};
  const std::vector<Word> ends{Word::integer(highest(s)), Word::integer(lowest(s))};
  if (s == Scalar::id) return ends;  // no index: an output of it is refused
  return {Word::integer(0), Word::integer(1), ends[0], ends[1]};
}

// What a candidate has to keep: all numbers, all finite ones, or small ones up to rounding (for functions such as
// log(exp(x) + exp(y)), which round).
enum class Demand : std::uint8_t { all, finite, about };

std::vector<Word> trial_words(Scalar s, Demand demand) {
  std::vector<Word> words;
  if (is_float(s)) {
    for (const double v : real_trials) {
      const double rounded = s == Scalar::f32 ? static_cast<double>(static_cast<float>(v)) : v;
      if (demand == Demand::finite && !std::isfinite(rounded)) continue;
      if (demand == Demand::about && (std::fabs(v) > 3 || (v != 0 && std::fabs(v) < 0.5))) continue;
      words.push_back(Word::real(rounded));
    }
    return words;
  }
  if (s == Scalar::boolean) return {Word::integer(0), Word::integer(1)};
  if (s == Scalar::id) return {Word::integer(0), Word::integer(1), Word::integer(2), Word::integer(1LL << 40)};
  for (const std::int64_t v : {0, 1, -1, 2, -2, 7}) words.push_back(Word::integer(v));
  words.push_back(Word::integer(highest(s)));
  words.push_back(Word::integer(lowest(s)));
  return words;
}

struct IdentitySearch {
  const ScalarFunction& fn;
  Demand demand;
  size_t planes;
  std::vector<std::vector<Word>> trials;  // by plane

  IdentitySearch(const ScalarFunction& f, Demand d)
      : fn(f), demand(d), planes(static_cast<size_t>(f.result().planes())) {
    for (size_t p = 0; p < planes; ++p) {
      trials.push_back(trial_words(f.result().plane_scalar(static_cast<std::int64_t>(p)), d));
    }
  }

  [[nodiscard]] bool same(const std::vector<Word>& a, const std::vector<Word>& b) const {
    if (demand != Demand::about) return same_words(fn.result(), a, b);
    for (size_t p = 0; p < planes; ++p) {
      const Scalar s = fn.result().plane_scalar(static_cast<std::int64_t>(p));
      const double tolerance = s == Scalar::f32 ? 1e-5 : 1e-12;
      const bool close = is_float(s) ? std::fabs(a[p].f - b[p].f) <= tolerance : a[p].i == b[p].i;
      if (!close) return false;
    }
    return true;
  }

  [[nodiscard]] bool keeps(const std::vector<Word>& e, const std::vector<Word>& v) const {
    std::vector<Word> out(planes);
    const std::array<std::span<const Word>, 2> left{e, v};
    const std::array<std::span<const Word>, 2> right{v, e};
    evaluate(fn, left, out);
    if (!same(out, v)) return false;
    evaluate(fn, right, out);
    return same(out, v);
  }

  // Every combination of trial values where there are few, else a fixed sequence of them.
  [[nodiscard]] bool serves(const std::vector<Word>& e, const std::vector<std::vector<Word>>& values) const {
    double combinations = 1;
    for (const auto& plane : values) combinations *= static_cast<double>(plane.size());
    const bool few = combinations <= 512;
    const auto count = few ? static_cast<std::uint64_t>(combinations) : 512;
    std::vector<Word> v(planes);
    for (std::uint64_t i = 0; i < count; ++i) {
      std::uint64_t rest = few ? i : i * 0x9E3779B97F4A7C15ULL + 12345;
      for (size_t p = 0; p < planes; ++p) {
        v[p] = values[p][rest % values[p].size()];
        rest = few ? rest / values[p].size() : (rest ^ (rest >> 29)) * 0xBF58476D1CE4E5B9ULL + p;
      }
      if (!keeps(e, v)) return false;
    }
    return true;
  }

  // Tries each combination of candidates, one for each component of the element.
  [[nodiscard]] std::optional<std::vector<Word>> find() const {
    const auto& components = fn.result().components;
    std::vector<std::vector<Word>> candidates;
    for (const Component& c : components) candidates.push_back(identity_candidates(c.scalar));
    std::vector<size_t> at(components.size(), 0);
    for (int tried = 0; tried < 4096; ++tried) {
      std::vector<Word> e;
      for (size_t c = 0; c < components.size(); ++c) {
        e.insert(e.end(), static_cast<size_t>(components[c].planes()), candidates[c][at[c]]);
      }
      if (serves(e, trials)) return e;
      size_t c = components.size();
      while (c > 0 && ++at[c - 1] == candidates[c - 1].size()) at[--c] = 0;
      if (c == 0) return std::nullopt;
    }
    return std::nullopt;
  }
};

}  // namespace

LawAnswer TrialLawChecker::reducer(const Module& module, FnId id) {
  const ScalarFunction& fn = module.fn(id);
  for (const Known& k : known_) {
    if (k.kind == LawKind::associative && k.fn == fn) return k.answer;
  }
  known_.push_back({LawKind::associative, fn, {}, 0, answer_reducer(fn)});
  return known_.back().answer;
}

LawAnswer TrialLawChecker::law(const Module& module, LawKind kind, FnId id, FnId by, int operand) {
  const ScalarFunction& fn = module.fn(id);
  const ScalarFunction& reducer = module.fn(by);
  for (const Known& k : known_) {
    if (k.kind == kind && k.operand == operand && k.fn == fn && k.by == reducer) return k.answer;
  }
  known_.push_back({kind, fn, reducer, operand, answer_law(kind, fn, reducer, operand)});
  return known_.back().answer;
}

std::optional<std::vector<Word>> reducer_identity(const ScalarFunction& fn) {
  const bool typed = fn.params.size() == 2 && fn.params[0].type == fn.result() && fn.params[1].type == fn.result();
  if (!typed) return std::nullopt;
  for (const Demand demand : {Demand::all, Demand::finite, Demand::about}) {
    if (demand == Demand::about && is_exact(fn)) break;
    if (auto found = IdentitySearch(fn, demand).find()) return found;
  }
  return std::nullopt;
}

}  // namespace kasen
