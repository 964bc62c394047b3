// One path through the cases of a law: which truth values hold and which signs polynomials have. A decision is made at
// the first question about it, and never contradicts earlier ones. After next() the same questions follow the next
// path, until all paths have been walked.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "libcore/laws/inequalities.h"
#include "libcore/laws/quotients.h"

namespace kasen {

struct NoSuchCase {};  // thrown on a path that no numbers take, or without a question (a division by zero)
struct Undecided {};   // thrown if cases cannot decide, or are too many

class LawPath {
 public:
  static constexpr size_t most_steps = 10'000;  // terms of polynomials made, and dozens of inequalities

  // `steps` counts over all paths of a question.
  explicit LawPath(size_t& steps) : steps_(steps) {}
  void step(size_t count = 1);

  [[nodiscard]] bool truth(int unknown);
  [[nodiscard]] bool negative(const RationalPolynomial& p);  // p < 0
  [[nodiscard]] bool zero(const RationalPolynomial& p);
  void require_not_zero(const RationalPolynomial& p);
  [[nodiscard]] bool never_zero(const RationalPolynomial& p);  // without a new decision
  // True if p is zero wherever this path leads.
  [[nodiscard]] bool always_zero(const RationalPolynomial& p);
  // States a fact that holds on every path, before the first decision of each: p >= 0, or p > 0. `turned`: for -p.
  void given(const RationalPolynomial& p, bool strict, bool turned = false);

  // Goes to the next path, from its beginning; false if there is none left.
  [[nodiscard]] bool next();

 private:
  using Signs = unsigned;  // a set: below, at, above
  struct Sign {
    RationalPolynomial of;  // its first coefficient is 1
    Signs left;             // the signs that are still possible
  };
  struct Choice {
    bool value, open;  // open: the other value has not been walked
  };

  std::pair<Sign*, bool> find(const RationalPolynomial& p);
  bool is(const RationalPolynomial& p, Signs asked);
  [[nodiscard]] bool possible(const RationalPolynomial& p, Signs signs);
  void learn(Sign& sign, Signs left);
  // Linear in monomials; each monomial is an unknown of its own.
  [[nodiscard]] std::optional<Inequality> at_least_zero(const RationalPolynomial& p, bool strict, bool turned);
  [[nodiscard]] std::vector<Inequality> meaning(const RationalPolynomial& p, Signs signs);
  [[nodiscard]] bool refutes(const std::vector<Inequality>& more);

  size_t& steps_;
  std::vector<Choice> choices_;
  size_t at_ = 0;
  std::vector<std::pair<int, bool>> truths_;
  std::vector<Sign> signs_;
  std::vector<Inequality> known_;
  std::map<RationalPolynomial::Monomial, int> monomials_;  // the same on all paths
};

}  // namespace kasen
