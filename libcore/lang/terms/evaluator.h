// Nodes as terms, for all parts that lower expressions inside their own: operands, single values, constants. How a node
// is lowered, expression.h decides. That part calls the others, so it stands above them and is set here.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libcore/lang/terms/value.h"

namespace kasen::lang {

class Evaluator {
 public:
  // The hint names a value that the node makes.
  using Lower = std::function<Term(const Node& node, const std::string& hint)>;

  Evaluator(const SourceText& source, Builder& builder, Values& values)
      : source_(source), builder_(builder), values_(values), module_(builder.module()) {}
  void set(Lower lower) { lower_ = std::move(lower); }

  // Anything, matrices and lists as bare leaves; no input with batches.
  [[nodiscard]] Term eval(const Node& node, const std::string& hint = {});
  // That, too.
  [[nodiscard]] Term any(const Node& node, const std::string& hint = {});
  // An operand of element-wise work.
  [[nodiscard]] Term element(const Node& node, const std::string& hint = {});
  [[nodiscard]] Term require_element(Term term, const Node& node) const;
  // The same; it may be open.
  [[nodiscard]] Term operand(const Node& node);
  [[nodiscard]] std::vector<Term> operands(const std::vector<Node>& nodes);
  [[nodiscard]] std::vector<Term> elements(const std::vector<Node>& nodes, size_t from = 0);
  // A value with a declared type: literals take the type, also those inside `(1, 2)` and `[1, 2]`.
  [[nodiscard]] Term typed(const Node& node, const ElementType& wanted, const std::string& hint = {});
  // A single value that all workers hold: conditions, bounds, indices of lists. `along`: the dimension of an index.
  ValueId shared(const Node& node, Scalar scalar, const std::string& hint, const std::string& what,
                 DimId along = no_dim);
  // An integer that plan knows.
  [[nodiscard]] std::int64_t count(const Node& node, std::int64_t lowest, const std::string& what);
  // Counts the work of copying a term.
  [[nodiscard]] Term charge(Term term);

 private:
  void refuse_batches(const Term& term, const Node& node) const;
  void refuse_other_place(const ElementType& type, DimId along, const Node& node, const std::string& what) const;
  [[nodiscard]] Term lower(const Node& node, const std::string& hint);

  const SourceText& source_;
  Builder& builder_;
  Values& values_;
  const Module& module_;
  Lower lower_;
  int depth_ = 0;
  std::int64_t work_ = 0;
};

}  // namespace kasen::lang
