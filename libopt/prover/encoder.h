// Scalar functions as the solver sees them. Floating-point numbers are reals, and integers are unbounded. Floor
// division and truncation follow their definitions, and loops over coordinates are unrolled. exp, log and friends are
// unknown functions with known growth, signs and a few values.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libcore/scalar/scalar.h"
#include "libopt/prover/terms.h"

namespace kasen {
struct FunctionShape;
}

namespace kasen::prover {

enum class Numbers : std::uint8_t {
  opaque,   // like relaxed, with nothing known of products of unknowns: quotients of integers often need no more
  relaxed,  // integers are reals with the known fact that their distances are integers: enough for most proofs
  whole,    // integers are integers
};

enum class Mode : std::uint8_t {
  defined,  // where an operator has no value (x / 0), nothing is asked: `conditions` state that
  machine,  // it has the machine's value, infinities among them (of integers the ends of the type); exp may underflow.
            // `conditions` report integers that leave their type
};

struct NotEncodable {  // thrown for questions that the solver does not get
  std::string why;
};

class Encoder {
 public:
  static constexpr int most_steps = 8000;  // of unrolled expressions, for all calls of one question together

  Encoder(z3::context& context, Numbers numbers, Mode mode) : z3_(context), numbers_(numbers), mode_(mode) {}

  // Returns a value with only its type and its declared range known.
  [[nodiscard]] Element variable(const ScalarParam& param);
  [[nodiscard]] Element constant(const ElementType& type, const std::vector<Word>& words);
  [[nodiscard]] Element call(const ScalarFunction& fn, const std::vector<Element>& args);

  // Returns the conditions since the last call: if they hold, the called functions are defined (or do not overflow).
  [[nodiscard]] z3::expr take_conditions();
  // Returns the facts that hold for all variables and terms made so far.
  [[nodiscard]] const std::vector<z3::expr>& facts() const { return facts_; }
  [[nodiscard]] bool linear() const { return linear_; }      // no product of unknowns occurred
  [[nodiscard]] bool integers() const { return integers_; }  // some integers occurred

 private:
  struct Application {  // of a function that is not interpreted
    ScalarOp op;
    std::vector<z3::expr> args;
    z3::expr value;
  };

  Element eval(const Expr& e);
  Term scalar(const Expr& e) { return eval(e).front(); }
  Term literal(Scalar scalar, Word word);
  Term unary(const Expr& e);
  Term binary(const Expr& e);
  Term truth(const Expr& e);
  Term times(const Term& a, const Term& b);
  Term divided(const Term& a, const Term& b);
  z3::expr zero_sign(const z3::expr& divisor);
  Term whole_part(const Term& a);  // the floor of a real number
  [[nodiscard]] z3::expr as_number(const Term& a, Scalar scalar);
  Term floor_divided_integers(const Expr& e, const Term& a, const Term& b);
  Term floor_divided(const Expr& e, const Term& a, const Term& b);
  z3::expr opaque_product(const z3::expr& a, const z3::expr& b);
  z3::expr whole_quotient(const z3::expr& a, const z3::expr& b);
  Term power(const Expr& e);
  Term cast(const Expr& e);
  Term whole_cast(const Term& a, Scalar from, Scalar to);
  Term truncated(const Term& a);
  z3::expr within_domain(const FunctionShape& shape, const z3::expr& a);
  Term at_infinity(const z3::expr& there, double limit, Term result);
  Term elementary(ScalarOp op, const Term& a);
  Element branches(const Expr& e);
  Element loop(const Expr& e);
  Element pick(const Expr& e);

  z3::expr apply(ScalarOp op, const std::vector<z3::expr>& args);
  void single_facts(const Application& f);
  void pair_facts(const Application& f, const Application& g);
  z3::expr monotone(const Application& f, const Application& g, int growth);
  z3::expr fresh_whole(const char* name);
  void note_whole(const z3::expr& value);
  void require(const z3::expr& condition);
  void keep_in_type(const Term& value, Scalar scalar);
  [[nodiscard]] z3::expr inside_type(const z3::expr& value, Scalar scalar);
  void within(const z3::expr& value, const Interval& range);
  z3::expr number(double value);
  z3::expr number_of(Scalar scalar, std::int64_t value);
  z3::expr fresh(const char* name, bool whole);
  z3::expr real(const z3::expr& value) const { return value.is_int() ? z3::to_real(value) : value; }
  void step();

  z3::context& z3_;
  Numbers numbers_;
  Mode mode_;
  std::vector<z3::expr> facts_, whole_, divisors_;
  std::vector<Application> applications_;
  std::vector<std::pair<std::pair<z3::expr, z3::expr>, z3::expr>> quotients_, products_;
  const std::vector<Element>* args_ = nullptr;
  std::map<int, std::int64_t> loops_;
  std::optional<z3::expr> guard_, conditions_;
  bool linear_ = true, integers_ = false;
  int steps_ = 0, names_ = 0;
};

}  // namespace kasen::prover
