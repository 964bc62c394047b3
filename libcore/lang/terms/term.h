// Expressions on their way to the IR. A term is an element-wise expression over leaves (values of the module, or the
// parameters of a function being built). Whole-array arithmetic, `map` and calls of user functions all build terms. So
// expressions with one meaning become one operator when a term finally gets a value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/ir/module.h"
#include "libcore/syntax/ast.h"

namespace kasen::lang {

// Limits for hostile programs whose templates call each other.
inline constexpr int max_term_depth = 180;  // the text form, with its brackets, must still be readable
inline constexpr std::int64_t max_term_size = 20'000;
inline constexpr int max_loop_nesting = 16;
inline constexpr std::int64_t max_loop_iterations = 1 << 20;  // of nested coordinate loops together

// A leaf that stands for parameter i of a function under construction.
[[nodiscard]] inline ValueId parameter_leaf(int i) { return ValueId(-2 - i); }

struct Term {
  Expr expr;                    // parameter k is leaves[k]
  std::vector<ValueId> leaves;  // without repeats
  std::vector<DimId> dims;      // of the whole expression
  bool open = false;            // no operand has all of these, so that they have no order: u + v over [N] and [M]
  bool literal = false;         // made of literals without a type of their own: takes the type of its operands
  bool whole = false;           // a literal f64 that is written with an exponent and is a whole number: 1e6
  bool named = false;           // a name of the program as it stands (assigning it makes a copy)
  int depth = 1;
  std::int64_t size = 1;
  int nesting = 0;                     // of coordinate loops
  std::int64_t iterations = 1;         // of nested coordinate loops together
  const Statement* origin = nullptr;   // the `fn` of which this is a direct call
  std::vector<ValueId> origin_leaves;  // the leaf of each of its parameters

  [[nodiscard]] bool bare() const { return expr.op == ScalarOp::param; }
  [[nodiscard]] bool known() const { return leaves.empty() && dims.empty(); }  // to plan: a single value
  [[nodiscard]] const ElementType& type() const { return expr.type; }
};

[[nodiscard]] Term leaf_term(ValueId leaf, const ElementType& type, std::vector<DimId> dims);
[[nodiscard]] Term literal_term(Scalar scalar, Word value);  // with `literal` set
[[nodiscard]] Term loop_var_term(int number);                // the coordinate of that loop

// The literal as a number of this type; UserError if it has none. Terms that are not literals are returned unchanged.
[[nodiscard]] Term adapt(Term term, Scalar to);

// Operators on terms: literals take the others' type, leaves are merged, and shapes broadcast by dimension name. All
// throw UserError without a position.
// Arrays of which none has all dimensions are refused, or left open until one that has them is met.
enum class Pairs : std::uint8_t { refused, open };
[[nodiscard]] Term combine(const Module& module, ScalarOp op, std::vector<Term> args, Pairs pairs = Pairs::refused);
// Throws UserError, without a position, if the term is open.
void require_closed(const Module& module, const Term& term);
[[nodiscard]] Term convert_term(const Module& module, Scalar to, Term arg);
[[nodiscard]] Term tuple_term(const Module& module, std::vector<Term> args);
[[nodiscard]] Term component_term(Term tuple, int index);
[[nodiscard]] Term element_term(const Module& module, Term array, Term index);
[[nodiscard]] Term loop_term(ScalarOp op, int number, std::int64_t count, Term body);
[[nodiscard]] Term array_term(const Module& module, std::vector<Term> parts, int number);  // [a, b, c]

void renumber_params(Expr& e, const std::vector<int>& to);

// A scalar function in its one canonical form. Parameters are in order of first use, arrays before shareds. Loops are
// numbered by their nesting from 0. `operands` are the leaves in that order.
struct Finished {
  ScalarFunction fn;
  std::vector<ValueId> operands;
};
[[nodiscard]] Finished finish(const Module& module, const Term& term, const std::string& hint,
                              const std::vector<std::string>& base_names);
// The same for a function whose parameters are fixed: leaf parameter_leaf(i) becomes parameter i. `stray` gets any
// other leaf (no_value if there is none).
[[nodiscard]] ScalarFunction finish_function(const Term& term, std::vector<ScalarParam> params, std::string name,
                                             ValueId& stray);
// The value of a term without leaves, one word a plane.
[[nodiscard]] std::vector<Word> constant_words(const Term& term);

[[nodiscard]] Scalar scalar_named(const std::string& name);  // null if there is no such type
// "f64[N, F]" and the like, for messages.
[[nodiscard]] std::string show(const Module& module, const ElementType& type);
[[nodiscard]] std::string show(const Module& module, const Type& type);
[[nodiscard]] std::string show_dims(const Module& module, const std::vector<DimId>& dims);

}  // namespace kasen::lang
