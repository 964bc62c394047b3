#include "libcore/inequalities.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace kasen {
namespace {

constexpr size_t most_inequalities = 200;

bool is_false(const Inequality& i) { return i.terms.empty() && (i.constant < 0 || (i.strict && i.constant == 0)); }

// The one whose elimination leaves the fewest.
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

// The sum of both in which the unknown, of which `up` has a positive and `down` a negative multiple, is gone.
Inequality without(int unknown, const Inequality& up, const Inequality& down) {
  const Rational by_up = -down.terms.at(unknown);
  const Rational& by_down = up.terms.at(unknown);
  Inequality sum{{}, Rational(up.constant * by_up + down.constant * by_down), up.strict || down.strict};
  for (const auto& [u, factor] : up.terms) sum.terms[u] += factor * by_up;
  for (const auto& [u, factor] : down.terms) sum.terms[u] += factor * by_down;
  std::erase_if(sum.terms, [](const auto& term) { return term.second == 0; });
  return sum;
}

}  // namespace

bool contradictory(std::vector<Inequality> all, size_t& steps) {
  while (true) {
    if (std::any_of(all.begin(), all.end(), is_false)) return true;
    std::erase_if(all, [](const Inequality& i) { return i.terms.empty(); });
    const std::optional<int> unknown = cheapest_unknown(all);
    if (!unknown || all.size() > most_inequalities) return false;
    std::vector<Inequality> next, up, down;
    for (Inequality& i : all) {
      const auto at = i.terms.find(*unknown);
      auto& list = at == i.terms.end() ? next : at->second > 0 ? up : down;
      list.push_back(std::move(i));
    }
    for (const Inequality& u : up) {
      for (const Inequality& d : down) {
        next.push_back(without(*unknown, u, d));
        steps += 1 + next.back().terms.size();
      }
    }
    all = std::move(next);
  }
}

}  // namespace kasen
