// The identity element of a reducer: candidates for each component, tried with the real functions.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "libcore/laws/coordinates.h"
#include "libcore/laws/laws.h"
#include "libcore/scalar/element_range.h"
#include "libcore/scalar/exact.h"

namespace kasen {
namespace {

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

std::vector<Word> identity_candidates(Scalar s) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (is_float(s)) return {Word::real(0), Word::real(1), Word::real(infinity), Word::real(-infinity)};
  if (s == Scalar::boolean) return {Word::integer(0), Word::integer(1)};
  std::vector<Word> ends{Word::integer(integer_ends(s).high), Word::integer(integer_ends(s).low)};
  if (s == Scalar::id) return ends;  // no index: an output with it is refused
  return {Word::integer(0), Word::integer(1), ends[0], ends[1], Word::integer(-1)};  // -1: all bits
}

// The trial values that a candidate has to keep: all numbers, all finite ones, or small ones up to rounding. The last
// is for functions that round, such as log(exp(x) + exp(y)).
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
  words.push_back(Word::integer(integer_ends(s).high));
  words.push_back(Word::integer(integer_ends(s).low));
  return words;
}

// The trial values in the declared range; if there are few, also values at the ends of the range.
std::vector<Word> in_range(std::vector<Word> words, Scalar s, const Interval& range) {
  if (range.everything() || !is_numeric(s)) return words;
  const auto holds = [&](const Word& w) { return range.holds(is_float(s) ? w.f : static_cast<double>(w.i)); };
  std::erase_if(words, [&](const Word& w) { return !holds(w); });
  if (words.size() >= 3) return words;
  for (const double v : {range.low, range.low + 1, range.high, range.high - 1, (range.low + range.high) / 2}) {
    if (!std::isfinite(v) || (!is_float(s) && std::trunc(v) != v)) continue;
    const Word word = is_float(s) ? Word::real(v) : Word::integer(static_cast<std::int64_t>(v));
    if (holds(word)) words.push_back(word);
  }
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
      const auto plane = static_cast<std::int64_t>(p);
      const Scalar scalar = f.result().plane_scalar(plane);
      trials.push_back(in_range(trial_words(scalar, d), scalar, declared_range(f.params[0], plane)));
    }
  }

  [[nodiscard]] bool same(const std::vector<Word>& a, const std::vector<Word>& b) const {
    for (size_t p = 0; p < planes; ++p) {
      const Scalar s = fn.result().plane_scalar(static_cast<std::int64_t>(p));
      const double tolerance = demand != Demand::about ? 0 : s == Scalar::f32 ? 1e-5 : 1e-12;
      const bool equal = is_float(s) ? a[p].f == b[p].f || (a[p].f != a[p].f && b[p].f != b[p].f) ||
                                           std::fabs(a[p].f - b[p].f) <= tolerance
                                     : a[p].i == b[p].i;
      if (!equal) return false;
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

  // Tries every combination of trial values if there are few, else a fixed sequence of them. The candidate may lie
  // outside the declared range, but it must leave the elements of the range, and itself, as they are.
  [[nodiscard]] bool serves(const std::vector<Word>& e, const std::vector<std::vector<Word>>& values) const {
    const bool none = std::any_of(values.begin(), values.end(), [](const auto& plane) { return plane.empty(); });
    if (none || (!fn.params[0].range.empty() && !keeps(e, e))) return false;
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

// The word of each component stands for all of its coordinates.
std::vector<Word> of_all_coordinates(const std::vector<Word>& found, const ElementType& type) {
  std::vector<Word> words;
  for (size_t c = 0; c < type.components.size(); ++c) {
    words.insert(words.end(), static_cast<size_t>(type.components[c].planes()), found[c]);
  }
  return words;
}

}  // namespace

std::optional<std::vector<Word>> reducer_identity(const ScalarFunction& fn) {
  const bool typed = fn.params.size() == 2 && fn.params[0].type == fn.result() && fn.params[1].type == fn.result();
  if (!typed) return std::nullopt;
  if (const auto one = with_one_coordinate(fn)) {
    const auto found = reducer_identity(*one);
    return found ? std::optional(of_all_coordinates(*found, fn.result())) : std::nullopt;
  }
  for (const Demand demand : {Demand::all, Demand::finite, Demand::about}) {
    if (demand == Demand::about && is_exact(fn)) break;  // without rounding it would have been found
    if (auto found = IdentitySearch(fn, demand).find()) return found;
  }
  return std::nullopt;
}

}  // namespace kasen
