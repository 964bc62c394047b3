#include "libcore/laws/path.h"

#include <algorithm>

namespace kasen {
namespace {

constexpr unsigned below = 1, at_zero = 2, above = 4, any_sign = 7;

unsigned turned(unsigned signs) { return (signs & at_zero) | (signs & below) << 2U | (signs & above) >> 2U; }

unsigned sign_of(const Rational& number) { return number < 0 ? below : number > 0 ? above : at_zero; }

// True if every unknown in it occurs an even number of times.
bool is_square(const RationalPolynomial::Monomial& m) {
  for (size_t i = 0; i < m.size(); i += 2) {
    if (i + 1 == m.size() || m[i] != m[i + 1]) return false;
  }
  return true;
}

}  // namespace

void LawPath::step(size_t count) {
  steps_ += count;
  if (steps_ > most_steps) throw Undecided{};
}

bool LawPath::next() {
  while (!choices_.empty() && !choices_.back().open) choices_.pop_back();
  if (choices_.empty()) return false;
  step();
  choices_.back() = {!choices_.back().value, false};
  at_ = 0;
  truths_.clear();
  signs_.clear();
  known_.clear();
  return true;
}

// ---- truth values

bool LawPath::truth(int unknown) {
  for (const auto& [known, value] : truths_) {
    if (known == unknown) return value;
  }
  if (at_ == choices_.size()) choices_.push_back({true, true});
  truths_.emplace_back(unknown, choices_[at_++].value);
  return truths_.back().second;
}

// ---- signs

// The known signs of the polynomial, or of its negative if the second result is true.
std::pair<LawPath::Sign*, bool> LawPath::find(const RationalPolynomial& p) {
  const Rational& first = p.terms().begin()->second;
  RationalPolynomial normal = p;
  if (first == -1) {
    normal.negate();
  } else if (first != 1) {
    normal *= Rational(1 / first);
  }
  auto at = std::find_if(signs_.begin(), signs_.end(), [&](const Sign& s) { return s.of == normal; });
  if (at == signs_.end()) at = signs_.insert(at, {std::move(normal), any_sign});
  return {&*at, first < 0};
}

std::optional<Inequality> LawPath::at_least_zero(const RationalPolynomial& p, bool strict, bool turned) {
  std::vector<std::pair<int, Rational>> terms;
  for (const auto& [monomial, factor] : p.terms()) {
    if (monomial.empty()) continue;
    const int unknown = monomials_.try_emplace(monomial, static_cast<int>(monomials_.size())).first->second;
    terms.emplace_back(unknown, turned ? Rational(-factor) : factor);
  }
  return make_inequality(terms, turned ? Rational(-p.constant()) : p.constant(), strict);
}

void LawPath::given(const RationalPolynomial& p, bool strict, bool turned) {
  if (auto fact = at_least_zero(p, strict, turned)) known_.push_back(std::move(*fact));
}

// An inequality that does not fit states nothing. That is valid, but weaker than possible.
std::vector<Inequality> LawPath::meaning(const RationalPolynomial& p, Signs signs) {
  std::vector<Inequality> facts;
  const auto say = [&](bool turned) {
    if (auto fact = at_least_zero(p, (signs & at_zero) == 0, turned)) facts.push_back(std::move(*fact));
  };
  if ((signs & below) == 0) say(false);
  if ((signs & above) == 0) say(true);
  return facts;
}

bool LawPath::refutes(const std::vector<Inequality>& more) {
  std::vector<Inequality> all = known_;
  all.insert(all.end(), more.begin(), more.end());
  for (const auto& [monomial, unknown] : monomials_) {
    if (is_square(monomial)) all.push_back({{{unknown, 1}}, 0, false});
  }
  size_t made = 0;
  const bool none = contradictory(std::move(all), made);
  step(1 + made / 16);
  return none;
}

// A set with a gap is checked for each side.
bool LawPath::possible(const RationalPolynomial& p, Signs signs) {
  if (signs == 0) return false;
  if (signs == (below | above)) return possible(p, below) || possible(p, above);
  return signs == any_sign || !refutes(meaning(p, signs));
}

void LawPath::learn(Sign& sign, Signs left) {
  if (sign.left == left) return;
  sign.left = left;
  for (Inequality& fact : meaning(sign.of, left)) known_.push_back(std::move(fact));
}

bool LawPath::is(const RationalPolynomial& p, Signs asked) {
  if (p.is_constant()) return (sign_of(p.constant()) & asked) != 0;
  const auto [sign, flipped] = find(p);
  if (flipped) asked = turned(asked);
  const Signs yes = sign->left & asked;
  const Signs no = sign->left & ~asked;
  if (yes == 0 || no == 0) return no == 0;
  if (at_ == choices_.size()) {
    const bool may_hold = possible(sign->of, yes);
    const bool may_fail = possible(sign->of, no);
    if (!may_hold && !may_fail) throw NoSuchCase{};
    choices_.push_back({may_hold, may_hold && may_fail});
  }
  const bool holds = choices_[at_++].value;
  learn(*sign, holds ? yes : no);
  return holds;
}

bool LawPath::negative(const RationalPolynomial& p) { return is(p, below); }
bool LawPath::zero(const RationalPolynomial& p) { return is(p, at_zero); }

void LawPath::require_not_zero(const RationalPolynomial& p) {
  if (p.is_zero()) throw NoSuchCase{};
  if (p.is_constant()) return;
  const auto [sign, flipped] = find(p);
  if (sign->left == at_zero) throw NoSuchCase{};
  learn(*sign, sign->left & ~at_zero);
}

bool LawPath::never_zero(const RationalPolynomial& p) {
  if (p.is_constant()) return !p.is_zero();
  const auto [sign, flipped] = find(p);
  return !possible(sign->of, sign->left & at_zero);
}

bool LawPath::always_zero(const RationalPolynomial& p) {
  if (p.is_constant()) return p.is_zero();
  const auto [sign, flipped] = find(p);
  return !possible(sign->of, sign->left & below) && !possible(sign->of, sign->left & above);
}

}  // namespace kasen
