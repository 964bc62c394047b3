// Linear algebra on whole arrays of local dimensions: solve, inv, cholesky, and `Q, R = qr(X)`, eigh, svd.
#pragma once

#include <string>
#include <vector>

#include "libcore/lang/terms/part.h"

namespace kasen::lang {

class LinearAlgebra : Part {
 public:
  explicit LinearAlgebra(const Part& part);

 private:
  [[nodiscard]] std::vector<Term> emit(OpCode code, const Node& node, const std::vector<std::string>& hints);
  void require_local(const std::vector<DimId>& dims, const Node& node) const;
  void require_square(ValueId matrix, const Node& node) const;
};

}  // namespace kasen::lang
