#include "libopt/cost/polynomial.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "libcore/base/checked.h"
#include "libcore/base/error.h"

namespace kasen {
namespace {

constexpr std::string_view overflow_what = "a predicted cost";

// Monomials with symbols come first, the constant last; otherwise they are in the order of their symbols.
bool printed_before(const Polynomial::Monomial& a, const Polynomial::Monomial& b) {
  if (a.empty() || b.empty()) return !a.empty();
  return a < b;
}

std::string monomial_text(const Polynomial::Monomial& monomial, const std::function<std::string(const Symbol&)>& name) {
  std::string text;
  for (size_t i = 0; i < monomial.size();) {
    size_t power = 1;
    while (i + power < monomial.size() && monomial[i + power] == monomial[i]) ++power;
    if (!text.empty()) text += ' ';
    text += name(monomial[i]);
    if (power > 1) text += fmt::format("^{}", power);
    i += power;
  }
  return text;
}

}  // namespace

Polynomial::Polynomial(std::int64_t constant) { add({}, constant); }
Polynomial::Polynomial(Symbol symbol) { add({std::move(symbol)}, 1); }

void Polynomial::add(const Monomial& monomial, std::int64_t coefficient) {
  if (coefficient == 0) return;
  const auto [place, is_new] = terms_.emplace(monomial, coefficient);
  if (is_new) return;
  place->second = checked_add(place->second, coefficient, overflow_what);
  if (place->second == 0) terms_.erase(place);
}

Polynomial& Polynomial::operator+=(const Polynomial& other) {
  if (this == &other) return *this *= Polynomial(2);
  for (const auto& [monomial, coefficient] : other.terms_) add(monomial, coefficient);
  return *this;
}

Polynomial& Polynomial::operator-=(const Polynomial& other) { return *this += Polynomial(-1) * other; }

Polynomial& Polynomial::operator*=(const Polynomial& other) {
  if (const auto factor = other.constant()) {  // mostly 1, for an operator that runs once
    if (*factor == 0) terms_.clear();
    if (*factor == 1) return *this;
    for (auto& [monomial, coefficient] : terms_) coefficient = checked_mul(coefficient, *factor, overflow_what);
    return *this;
  }
  Polynomial product;
  for (const auto& [a, x] : terms_) {
    for (const auto& [b, y] : other.terms_) {
      Monomial both;
      both.reserve(a.size() + b.size());
      std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
      const std::int64_t term = checked_mul(x, y, overflow_what);
      auto& sum = product.terms_.try_emplace(std::move(both), 0).first->second;
      sum = checked_add(sum, term, overflow_what);
    }
  }
  std::erase_if(product.terms_, [](const auto& term) { return term.second == 0; });
  terms_ = std::move(product.terms_);
  return *this;
}

std::optional<std::int64_t> Polynomial::constant() const {
  if (terms_.empty()) return 0;
  if (terms_.size() == 1 && terms_.begin()->first.empty()) return terms_.begin()->second;
  return std::nullopt;
}

Polynomial Polynomial::replace(const std::function<Polynomial(const Symbol&)>& by) const {
  Polynomial result;
  for (const auto& [monomial, coefficient] : terms_) {
    Polynomial term(coefficient);
    for (const Symbol& symbol : monomial) term *= by(symbol);
    result += term;
  }
  return result;
}

std::optional<std::int64_t> Polynomial::evaluate(const Bindings& bindings) const {
  std::int64_t sum = 0;
  for (const auto& [monomial, coefficient] : terms_) {
    std::int64_t term = coefficient;
    for (const Symbol& symbol : monomial) {
      const auto it = bindings.find(symbol);
      if (it == bindings.end()) return std::nullopt;
      term = checked_mul(term, it->second, overflow_what);
    }
    sum = checked_add(sum, term, overflow_what);
  }
  return sum;
}

std::int64_t Polynomial::value(const Bindings& bindings) const {
  const auto known = evaluate(bindings);
  if (!known) throw InternalError("a size that the plan needs is not known");
  return *known;
}

std::vector<Symbol> Polynomial::symbols() const {
  std::set<Symbol> found;
  for (const auto& [monomial, coefficient] : terms_) found.insert(monomial.begin(), monomial.end());
  return {found.begin(), found.end()};
}

std::string Polynomial::text(const std::function<std::string(const Symbol&)>& name) const {
  if (terms_.empty()) return "0";
  std::vector<const std::pair<const Monomial, std::int64_t>*> order;
  for (const auto& term : terms_) order.push_back(&term);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return printed_before(a->first, b->first); });
  std::string text;
  for (const auto* term : order) {
    const auto& [monomial, coefficient] = *term;
    const bool negative = coefficient < 0;
    if (text.empty()) {
      text += negative ? "-" : "";
    } else {
      text += negative ? " - " : " + ";
    }
    // The smallest integer has no positive counterpart in signed arithmetic, but in unsigned arithmetic it has one.
    const std::uint64_t size =
        negative ? 0 - static_cast<std::uint64_t>(coefficient) : static_cast<std::uint64_t>(coefficient);
    if (monomial.empty()) {
      text += fmt::format("{}", size);
    } else {
      text += size == 1 ? monomial_text(monomial, name) : fmt::format("{} {}", size, monomial_text(monomial, name));
    }
  }
  return text;
}

}  // namespace kasen
