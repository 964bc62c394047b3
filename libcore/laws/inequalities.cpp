#include "libcore/laws/inequalities.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

namespace kasen {
namespace {

constexpr size_t most_inequalities = 200;
using Whole = boost::multiprecision::cpp_int;

bool is_false(const Inequality& i) { return i.terms.empty() && (i.constant < 0 || (i.strict && i.constant == 0)); }

std::int64_t factor_of(const Inequality& i, int unknown) {
  const auto at =
      std::lower_bound(i.terms.begin(), i.terms.end(), std::pair{unknown, std::numeric_limits<std::int64_t>::min()});
  return at != i.terms.end() && at->first == unknown ? at->second : 0;
}

// The unknown whose elimination leaves the fewest inequalities.
std::optional<int> cheapest_unknown(const std::vector<Inequality>& all) {
  std::map<int, std::pair<size_t, size_t>> signs;  // how often positive and negative
  for (const Inequality& i : all) {
    for (const auto& [unknown, factor] : i.terms) ++(factor > 0 ? signs[unknown].first : signs[unknown].second);
  }
  std::optional<int> best;
  size_t fewest = std::numeric_limits<size_t>::max();
  for (const auto& [unknown, count] : signs) {
    const size_t made = count.first * count.second;
    if (made < fewest) {
      best = unknown;
      fewest = made;
    }
  }
  return best;
}

bool weighed(std::int64_t a, std::int64_t x, std::int64_t b, std::int64_t y, std::int64_t& sum) {  // a x + b y
  std::int64_t left = 0, right = 0;
  return !__builtin_mul_overflow(a, x, &left) && !__builtin_mul_overflow(b, y, &right) &&
         !__builtin_add_overflow(left, right, &sum) && sum != std::numeric_limits<std::int64_t>::min();
}

void reduce(Inequality& i) {
  std::int64_t divisor = i.constant;
  for (const auto& [unknown, factor] : i.terms) divisor = std::gcd(divisor, factor);
  if (divisor <= 1) return;
  i.constant /= divisor;
  for (auto& [unknown, factor] : i.terms) factor /= divisor;
}

// The sum of both that eliminates the unknown; `up` has a positive and `down` a negative multiple of it. Empty if a
// coefficient does not fit.
std::optional<Inequality> without(int unknown, const Inequality& up, const Inequality& down) {
  const std::int64_t by_up = -factor_of(down, unknown);
  const std::int64_t by_down = factor_of(up, unknown);
  Inequality sum{{}, 0, up.strict || down.strict};
  if (!weighed(by_up, up.constant, by_down, down.constant, sum.constant)) return std::nullopt;
  auto u = up.terms.begin();
  auto d = down.terms.begin();
  while (u != up.terms.end() || d != down.terms.end()) {
    const bool takes_up = u != up.terms.end() && (d == down.terms.end() || u->first <= d->first);
    const bool takes_down = d != down.terms.end() && (u == up.terms.end() || d->first <= u->first);
    const int at = takes_up ? u->first : d->first;
    std::int64_t factor = 0;
    if (!weighed(by_up, takes_up ? u->second : 0, by_down, takes_down ? d->second : 0, factor)) return std::nullopt;
    if (factor != 0) sum.terms.emplace_back(at, factor);
    if (takes_up) ++u;
    if (takes_down) ++d;
  }
  reduce(sum);
  return sum;
}

// Keeps the tightest inequality of those with the same terms.
void keep_tightest(std::vector<Inequality>& all) {
  std::sort(all.begin(), all.end(), [](const Inequality& a, const Inequality& b) {
    return std::tie(a.terms, a.constant, b.strict) < std::tie(b.terms, b.constant, a.strict);
  });
  const auto same = [](const Inequality& a, const Inequality& b) { return a.terms == b.terms; };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
}

}  // namespace

std::optional<Inequality> make_inequality(const std::vector<std::pair<int, Rational>>& terms, const Rational& constant,
                                          bool strict) {
  Whole common = denominator(constant);
  for (const auto& [unknown, factor] : terms) {
    const Whole below = denominator(factor);
    if (below != 1) common = lcm(common, below);
  }
  const auto fit = [&](const Rational& value, std::int64_t& whole) {
    const Whole scaled = common == 1 ? numerator(value) : Whole(numerator(value) * (common / denominator(value)));
    if (abs(scaled) > std::numeric_limits<std::int64_t>::max()) return false;
    whole = scaled.convert_to<std::int64_t>();
    return true;
  };
  Inequality made{{}, 0, strict};
  if (!fit(constant, made.constant)) return std::nullopt;
  for (const auto& [unknown, factor] : terms) {
    made.terms.emplace_back(unknown, 0);
    if (!fit(factor, made.terms.back().second)) return std::nullopt;
  }
  std::sort(made.terms.begin(), made.terms.end());
  reduce(made);
  return made;
}

bool contradictory(std::vector<Inequality> all, size_t& steps) {
  while (true) {
    if (std::any_of(all.begin(), all.end(), is_false)) return true;
    std::erase_if(all, [](const Inequality& i) { return i.terms.empty(); });
    keep_tightest(all);
    const std::optional<int> unknown = cheapest_unknown(all);
    if (!unknown || all.size() > most_inequalities) return false;
    std::vector<Inequality> next, up, down;
    for (Inequality& i : all) {
      const std::int64_t factor = factor_of(i, *unknown);
      auto& list = factor == 0 ? next : factor > 0 ? up : down;
      list.push_back(std::move(i));
    }
    for (const Inequality& u : up) {
      for (const Inequality& d : down) {
        if (auto sum = without(*unknown, u, d)) next.push_back(std::move(*sum));
        ++steps;
      }
    }
    all = std::move(next);
  }
}

}  // namespace kasen
