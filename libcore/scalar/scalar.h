// Scalar functions: expression trees over elements, never opaque pointers, so that laws can be proven on them and
// kernels generated from them. Types are checked when a node is built; a built tree is always well typed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/types.h"
#include "libcore/scalar/interval.h"

namespace kasen {

enum class ScalarOp : std::uint8_t {
#define SCALAR_OP(enumerator, ...) enumerator,
#include "libcore/scalar/scalar_operators.def"
#undef SCALAR_OP
};

enum class ResultRule : std::uint8_t { same, real, divide, compare, logic, bits, special };

struct ScalarOpRow {
  ScalarOp op;
  std::string_view name, symbol;
  int arity;  // -1: any
  int precedence;
  ResultRule result;
  std::string_view doc;
};

[[nodiscard]] std::span<const ScalarOpRow> scalar_op_rows();
[[nodiscard]] const ScalarOpRow& row(ScalarOp op);
// The row that is called by this name with this many arguments (`min`, `exp`, `mul`), or null.
// True if only its numbers are known: it has no law, no exact form and no term of the prover.
[[nodiscard]] inline bool is_opaque(ScalarOp op) { return row(op).result == ResultRule::bits || op == ScalarOp::fmod; }
[[nodiscard]] const ScalarOpRow* find_scalar_op(std::string_view name, int arity);
// The row of an infix (arity 2) or prefix (arity 1) symbol, or null.
[[nodiscard]] const ScalarOpRow* find_scalar_symbol(std::string_view symbol, int arity);
[[nodiscard]] bool binds_right(const ScalarOpRow& row);  // a ^ b ^ c is a ^ (b ^ c)

// The smallest and the largest number of an integer type (or id), which stand for the infinities: sums, differences,
// products and negatives leave them infinite (docs/language.md, Operators).
struct IntegerEnds {
  std::int64_t low, high;
};
[[nodiscard]] IntegerEnds integer_ends(Scalar scalar);

// One scalar at run time. f32 values are kept in `f`, already rounded to float; bool and id in `i`.
union Word {
  double f;
  std::int64_t i;
  static Word real(double v) { return Word{.f = v}; }
  static Word integer(std::int64_t v) {
    Word w{};
    w.i = v;
    return w;
  }
};

struct Expr {
  ScalarOp op = ScalarOp::constant;
  ElementType type;
  std::vector<Expr> args;
  Word literal{};          // constant
  int index = 0;           // param: which; component: which; loop_var and *_over, build: number of the loop variable
  std::int64_t count = 0;  // *_over, build: trips

  friend bool operator==(const Expr& a, const Expr& b);  // literals bit by bit
};

// Builders. Each throws UserError (bad_input, no location) when the operands' types do not fit, saying what was
// expected and the explicit conversion that would help.
[[nodiscard]] Expr make_literal(Scalar scalar, Word value);
[[nodiscard]] Expr make_param(int index, const ElementType& type);
[[nodiscard]] Expr make_op(ScalarOp op, std::vector<Expr> args);  // every row that is not special, and select
[[nodiscard]] Expr make_cast(Scalar to, Expr arg);                // id[N] -> integer is allowed, integer -> id is not
[[nodiscard]] Expr make_tuple(std::vector<Expr> args);            // flat: scalars and small arrays
[[nodiscard]] Expr make_component(Expr tuple, int index);
[[nodiscard]] Expr make_element(Expr array, Expr index);
[[nodiscard]] Expr make_loop_var(int number);
[[nodiscard]] Expr make_loop(ScalarOp over, int number, std::int64_t count, Expr body);

struct ScalarParam {
  std::string name;
  ElementType type;
  ElementRange range;  // empty: any numbers; else one a place: laws may rely on it, every use has to keep it
  friend bool operator==(const ScalarParam&, const ScalarParam&) = default;
};

struct ScalarFunction {
  std::string name;
  std::vector<ScalarParam> params;
  Expr body;

  [[nodiscard]] const ElementType& result() const { return body.type; }
  friend bool operator==(const ScalarFunction&, const ScalarFunction&) = default;
};

// Replaces parameter i of `body` by args[i] (composition of functions); loop variables are renumbered apart.
[[nodiscard]] Expr substitute(const Expr& body, std::span<const Expr> args);
[[nodiscard]] bool is_identity(const ScalarFunction& fn);  // one parameter, returned as it is

// The meaning of every operator on concrete values (the reference for code generators). `args` holds, for each
// parameter, its planes; `out` has the planes of the result type.
void evaluate(const ScalarFunction& fn, std::span<const std::span<const Word>> args, std::span<Word> out);
[[nodiscard]] Word evaluate_op(ScalarOp op, Scalar operand, std::span<const Word> args);  // one plain operator
[[nodiscard]] Word convert(Scalar from, Scalar to, Word value);
[[nodiscard]] Word load_word(Scalar scalar, const std::byte* address);
void store_word(Scalar scalar, std::byte* address, Word value);

// Text of a word that reads back to the same bits: `1.0`, `3`, `1.0f32`, `7i32`, `true`, `inf`, `-inf`, `nan`.
[[nodiscard]] std::string literal_text(Scalar scalar, Word value);

}  // namespace kasen
