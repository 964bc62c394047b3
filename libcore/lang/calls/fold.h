// Sums and products over a formula (formula.h): operators that compute it for every nonzero and combine the results
// (fold_rows and fold_cols, libcore/ir/entries.h), or store each (entries).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "libcore/lang/calls/reducer.h"
#include "libcore/lang/terms/patterns.h"

namespace kasen::lang {

class Folds : Part {
 public:
  Folds(const Part& part, Calls& calls, Reducers& reducers);

  // sum(X * w), sum(X * w, over M): reduces rows, columns, or all by rows and then over the rows.
  [[nodiscard]] Term reduce(const Node& fn, Term entries, const Node* over, Mark mark, const std::string& hint);
  // (X * w) @ v, (X * w)' @ B: each nonzero of the formula times the operand at its other side.
  [[nodiscard]] Term multiply(const Node& times, const Node& plus, Term vector, Term entries, bool transposed,
                              Mark mark, const std::string& hint);
  // The index along this dimension of what a reducer of pairs (element, index) takes: argmax and argmin.
  using PairReducer = std::function<ScalarFunction(const ElementType&)>;
  [[nodiscard]] Term place(Term entries, DimId along, const PairReducer& reducer, Mark mark);
  // tril, triu and diag of stored entries: `use "arrays"` and `use "linalg"` have functions of arrays of these names.
  [[nodiscard]] bool takes_entries(const Node& call) const;
  // The formula over the nonzeros of one pattern.
  [[nodiscard]] Term settled(Term entries, Mark mark) { return patterns_.settled(std::move(entries), mark); }
  // Those of a null matrix are ones of this type.
  [[nodiscard]] Term entries_as(Term entries, Scalar scalar, Mark mark);
  // The formula at each nonzero, as a sparse value.
  [[nodiscard]] ValueId store(Term entries, Mark mark, const std::string& hint);
  // The same with the indices of its row and its column before it, as a tuple: what an output writes.
  [[nodiscard]] ValueId store_with_indices(Term entries, Mark mark, const std::string& hint);
  // U @ V' of arrays over [N, K] and [M, K], both cut: known only at the nonzeros of a matrix over [N, M], where the
  // program has a sparse one. Else it is an array.
  [[nodiscard]] bool gives_pairs(const Term& left, const Term& right) const;
  [[nodiscard]] Term pairs(Term left, Term right, Mark mark);
  // A' and A @ B of sparse matrices or expressions over stored entries. What it meets decides where it is computed.
  struct SparseFactor {
    Term term;
    bool turned = false;
  };
  [[nodiscard]] Term turned(Term entries, Mark mark);
  [[nodiscard]] Term sparse_product(SparseFactor left, SparseFactor right, Mark mark, const std::string& hint);

 private:
  struct Operands {
    std::vector<ValueId> values;
    FnId fn = no_fn;
    int at_rows = 0;
  };
  [[nodiscard]] Operands operands_of(Term formula, ValueId matrix, Mark mark, const std::string& hint);
  [[nodiscard]] ValueId emit_entries(Term formula, Mark mark, const std::string& hint);
  [[nodiscard]] ValueId array_of(SparseFactor factor, Mark mark);
  [[nodiscard]] Term local_product(SparseFactor left, SparseFactor right, Mark mark, const std::string& hint);
  [[nodiscard]] ValueId factor_values(SparseFactor& factor, Scalar scalar, Mark mark);
  [[nodiscard]] Term at_rows(const Node& node);
  [[nodiscard]] Term triangle(const Node& node, ScalarOp keeps);
  [[nodiscard]] Term diagonal(const Node& node, const std::string& hint);
  void require_own_names(const Term& entries, Mark mark) const;
  // Of two names of a square matrix's dimension, the one that is left is its own.
  void require_kept(DimId left, const Term& entries, Mark mark) const;
  [[nodiscard]] Term entries_argument(const Node& node);
  [[nodiscard]] Term kept(Term entries, ScalarOp keeps, Term diagonal, Mark mark);
  [[nodiscard]] ValueId meet_zeros(ValueId folded, ValueId matrix, FnId reducer, EntrySide side, Mark mark);
  // Dense arrays over the matrix's dimensions become what an entry meets of them.
  void meet_dense(Term& formula, ValueId matrix, Mark mark);
  [[nodiscard]] Term dense_element(ValueId array, const std::vector<DimId>& dims, Mark mark);
  // Gives a formula that meets nothing but the matrix's own values those as stored values.
  void take_values(Term& formula, Mark mark);
  [[nodiscard]] ValueId meet_all_zeros(ValueId folded, ValueId matrix, FnId reducer, Mark mark);
  void cover_side(Term& formula, ValueId matrix, EntrySide side, Mark mark);
  [[nodiscard]] ValueId emit(Term formula, FnId reducer, EntrySide side, std::vector<DimId> dims, Mark mark,
                             const std::string& hint);
  void require_fit(const Type& vector, const std::vector<DimId>& dims, bool transposed, Mark mark) const;

  Calls& calls_;
  Reducers& reducers_;
  Patterns patterns_;
};

}  // namespace kasen::lang
