// Evaluates scalar functions on one path through the cases of a law, element by element. Not for use outside libcore.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "libcore/laws/numbers.h"
#include "libcore/laws/trial.h"

namespace kasen {

struct CaseValue {  // of one plane
  bool is_truth = false;
  CaseNumber number;
  bool truth = false;
  int unknown = -1;  // a truth value that is not decided yet
};

// An element: a given one, or a function of elements. Its planes are computed once, when they are needed. So unrelated
// planes do not multiply their cases.
struct LazyElement {
  const ScalarFunction* fn = nullptr;
  std::vector<std::shared_ptr<LazyElement>> args;
  std::vector<std::optional<CaseValue>> planes;
};
using CaseElement = std::shared_ptr<LazyElement>;

class CaseEvaluator {
 public:
  CaseEvaluator(LawPath& path, CaseMode mode) : path_(path), a_(path, mode) {}

  // An element of which only the type and the declared range are known.
  [[nodiscard]] CaseElement variable(const ScalarParam& param);
  [[nodiscard]] CaseElement constant(const ElementType& type, const std::vector<Word>& words) const;
  [[nodiscard]] static CaseElement call(const ScalarFunction& fn, std::vector<CaseElement> args);
  [[nodiscard]] static CaseElement side(const LawSide& s, const std::vector<CaseElement>& variables);

  // The integers of the computation of this element stay in their types; the program ensures that. After this call, an
  // integer that may leave its type is undecided.
  void only_these_integers(const CaseElement& element, const ElementType& type);

  // True if plane p is equal wherever this path leads.
  [[nodiscard]] bool same(const CaseElement& a, const CaseElement& b, size_t p);

 private:
  void within(const RationalPolynomial& x, const Interval& range);
  [[nodiscard]] CaseValue literal(Scalar scalar, Word word) const;
  const CaseValue& plane(LazyElement& element, size_t p);
  bool known(const CaseValue& value) { return value.unknown >= 0 ? path_.truth(value.unknown) : value.truth; }
  bool truth(const Expr& e) { return known(eval(e, 0)); }
  CaseNumber scalar(const Expr& e) { return eval(e, 0).number; }
  CaseValue eval(const Expr& e, size_t p);
  bool logic(const Expr& e);
  bool compare(const Expr& e);
  CaseNumber unary(const Expr& e);
  CaseNumber binary(const Expr& e);
  CaseValue iteration(const Expr& e, std::int64_t j);
  CaseNumber loop(const Expr& e);
  CaseValue coordinate(const Expr& e);
  CaseValue cast(const Expr& e);
  CaseNumber keep(CaseNumber result, Scalar scalar);

  LawPath& path_;
  CaseArithmetic a_;
  const std::vector<CaseElement>* args_ = nullptr;
  std::map<int, std::int64_t> loops_;
  std::vector<RationalPolynomial> in_type_;  // integers between the ends of their type
  bool given_ = true;
};

}  // namespace kasen
