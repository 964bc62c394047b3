// Exact polynomials with integer coefficients over the named sizes of a program (docs/cost.md). Predicted costs have
// this form. Sums and products are checked for 64-bit overflow (UserError, limit).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libcore/base/types.h"

namespace kasen {

// Symbols are printed in the order of these kinds.
enum class SymbolKind : std::uint8_t {
  size,          // indices of a dimension, over all workers; on one worker its owned indices
  whole,         // all indices of a dimension, on every worker (for a dimension that is not the cut one)
  slaves,        // ghosts of `set` along dimension `name`; an empty set means the union over all axes and matrices
  waiting,       // rows of a product_epilogue over dimension `name` that wait for the gather from `set` (docs/cost.md)
  entries,       // nonzeros of matrix `name`
  batch,         // nonzeros of one batch of matrix `name`, on average
  compressed,    // bytes of input `name`, compressed
  distinct,      // bytes of its distinct values with their counts
  stay,          // elements that relayout or sort `number` leaves where they are
  agree,         // bytes with which the workers of sort `number` agree on the places of its elements
  block_reads,   // bytes that region of blocks `number` reads,
  block_writes,  // writes,
  block_sends,   // and sends between workers,
  block_elements,  // and elements that it sends
  workers,
  trips,  // iterations of one execution of loop `number`
  taken,  // executions of the first branch of `if` `number`
};

struct Symbol {
  SymbolKind kind = SymbolKind::size;
  std::string name;  // dimension or matrix
  SlaveSet set;      // only for slaves and waiting
  int number = -1;   // preorder number of the operator, for stay, agree, trips and taken

  friend auto operator<=>(const Symbol&, const Symbol&) = default;
};

class Polynomial {
 public:
  using Monomial = std::vector<Symbol>;  // ascending; a power repeats its symbol
  using Bindings = std::map<Symbol, std::int64_t>;

  Polynomial() = default;
  Polynomial(std::int64_t constant);  // NOLINT(google-explicit-constructor): a number is a polynomial
  explicit Polynomial(Symbol symbol);

  Polynomial& operator+=(const Polynomial& other);
  Polynomial& operator-=(const Polynomial& other);
  Polynomial& operator*=(const Polynomial& other);
  friend Polynomial operator+(Polynomial a, const Polynomial& b) { return a += b; }
  friend Polynomial operator-(Polynomial a, const Polynomial& b) { return a -= b; }
  friend Polynomial operator*(Polynomial a, const Polynomial& b) { return a *= b; }
  friend bool operator==(const Polynomial&, const Polynomial&) = default;

  [[nodiscard]] bool is_zero() const { return terms_.empty(); }
  [[nodiscard]] std::optional<std::int64_t> constant() const;  // its value if it holds no symbol
  [[nodiscard]] const std::map<Monomial, std::int64_t>& terms() const { return terms_; }
  // Replaces every symbol by the polynomial that `by` gives for it.
  [[nodiscard]] Polynomial replace(const std::function<Polynomial(const Symbol&)>& by) const;
  // Returns nothing if a symbol is not bound.
  [[nodiscard]] std::optional<std::int64_t> evaluate(const Bindings& bindings) const;
  [[nodiscard]] std::int64_t value(const Bindings& bindings) const;  // InternalError if a symbol is not bound
  // Returns the symbols that it holds, ascending, without repeats.
  [[nodiscard]] std::vector<Symbol> symbols() const;
  // Returns text like "20 N + 24 nnz", or "0" if there are no terms. `name` gives each symbol's text.
  [[nodiscard]] std::string text(const std::function<std::string(const Symbol&)>& name) const;

 private:
  void add(const Monomial& monomial, std::int64_t coefficient);

  std::map<Monomial, std::int64_t> terms_;  // no zero coefficients
};

}  // namespace kasen
