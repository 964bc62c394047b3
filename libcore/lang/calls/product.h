// What `@` means for the arrays beside it, and outer(u, v).
#pragma once

#include <string>
#include <vector>

#include "libcore/lang/calls/matrix_product.h"
#include "libcore/lang/calls/reduction.h"
#include "libcore/lang/calls/view.h"

namespace kasen::lang {

class Products : Part {
 public:
  Products(const Part& part, Calls& calls, Reducers& reducers, Folds& folds, MatrixProducts& matrix_products,
           Reductions& reductions, Views& views, Contractions& contractions);

  // G @ x, G' @ x, x @ G (the same as G' @ x), G @ B and G' @ B with columns. a @ b of vectors is the same as dot, and
  // a @ b' the same as outer. For bool these use and, or.
  [[nodiscard]] bool takes_entries(const Node& call) const { return folds_.takes_entries(call); }
  [[nodiscard]] Term transposed(const Node& node, const std::string& hint);
  [[nodiscard]] Term product(const Node& node, const std::string& hint);

 private:
  struct Side {
    Term term;
    bool turned = false;
  };
  [[nodiscard]] Side side(const Node& node);
  [[nodiscard]] Term of_vectors(const Node& node, Side left, Side right, const std::string& hint);
  [[nodiscard]] Term of_matrix(const Node& node, Side left, Side right, const std::string& hint);
  [[nodiscard]] Term outer(const Node& fn, std::vector<Term> args, Mark mark, const std::string& hint);
  [[nodiscard]] Term square_outer(const Node& fn, std::vector<Term> args, Mark mark, const std::string& hint);
  [[nodiscard]] Term column_by_row(FnId z, std::vector<Term> args, Mark mark, const std::string& hint);
  [[nodiscard]] Term outer_call(const Node& node, const std::string& hint);

  Calls& calls_;
  Reducers& reducers_;
  Folds& folds_;
  MatrixProducts& matrix_products_;
  Reductions& reductions_;
  Views& views_;
  Contractions& contractions_;
  DimId one_ = no_dim;  // of one index, once a program needs it
};

}  // namespace kasen::lang
