// Scalar functions on one path through the cases of a law, element by element. Not for use outside of libcore.
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
  int unknown = -1;  // a truth value that was not asked for yet
};

// An element: given, or a function of elements, of which a plane is computed when it is asked for, once. So planes that
// have nothing to do with each other do not multiply their cases.
struct LazyElement {
  const ScalarFunction* fn = nullptr;
  std::vector<std::shared_ptr<LazyElement>> args;
  std::vector<std::optional<CaseValue>> planes;
};
using CaseElement = std::shared_ptr<LazyElement>;

class CaseEvaluator {
 public:
  CaseEvaluator(LawPath& path, CaseMode mode) : path_(path), a_(path, mode) {}

  // About which only its type, and its declared range, are known.
  [[nodiscard]] CaseElement variable(const ScalarParam& param);
  [[nodiscard]] CaseElement constant(const ElementType& type, const std::vector<Word>& words) const;
  [[nodiscard]] static CaseElement call(const ScalarFunction& fn, std::vector<CaseElement> args);
  [[nodiscard]] static CaseElement side(const LawSide& s, const std::vector<CaseElement>& variables);

  // What integers this element takes to compute are in their types: the program's to see to. From here on integers that
  // may leave theirs are not decided.
  void only_these_integers(const CaseElement& element, const ElementType& type);

  // In plane p, wherever this path leads.
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
  CaseValue turn(const Expr& e, std::int64_t j);
  CaseNumber loop(const Expr& e);
  CaseValue coordinate(const Expr& e);
  CaseValue cast(const Expr& e);
  CaseNumber keep(CaseNumber result, Scalar scalar);

  LawPath& path_;
  CaseArithmetic a_;
  const std::vector<CaseElement>* args_ = nullptr;
  std::map<int, std::int64_t> loops_;
  std::vector<RationalPolynomial> in_type_;  // integers that are between the ends of their type
  bool given_ = true;
};

}  // namespace kasen
