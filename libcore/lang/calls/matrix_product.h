// Products of a matrix with a vector or an array of columns, for any multiplier and reducer: mxv and mxvt.
#pragma once

#include <string>

#include "libcore/lang/calls/contract.h"
#include "libcore/lang/calls/fold.h"

namespace kasen::lang {

class MatrixProducts : Part {
 public:
  MatrixProducts(const Part& part, Calls& calls, Reducers& reducers, Folds& folds, Contractions& contractions);

  // The matrix may be a formula. `transposed`: the result is over its rows.
  [[nodiscard]] Term multiply(const Node& times, const Node& plus, Term vector, Term matrix, bool transposed, Mark mark,
                              const std::string& hint);
  // Of two arrays, the matrix is the one of rank 2, or the sparse one, or the left one. The other has its vector or
  // columns.
  [[nodiscard]] bool matrix_is_left(const Term& left, const Term& right) const;
  void refuse_sparse_columns(const Term& vector, Mark mark) const;

 private:
  [[nodiscard]] Term call(const Node& node, const std::string& hint);
  [[nodiscard]] Term matrix_or_vector(const Node& node, bool& turned);
  [[nodiscard]] ValueId of_dense(FnId z, FnId r, ValueId vector, ValueId matrix, bool transposed, Mark mark,
                                 const std::string& hint);
  void require_fit(ValueId matrix, const Type& vector, bool transposed, Mark mark) const;
  [[nodiscard]] ElementType entry_type(const Node& fn, const ElementType& vector, const ElementType& matrix, Mark mark);

  Calls& calls_;
  Reducers& reducers_;
  Folds& folds_;
  Contractions& contractions_;
};

}  // namespace kasen::lang
