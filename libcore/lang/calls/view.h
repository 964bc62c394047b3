// Views: ranges of a dimension, one index of it, and transposed matrices.
#pragma once

#include <string>
#include <vector>

#include "libcore/ir/array_views.h"
#include "libcore/lang/calls/contract.h"

namespace kasen::lang {

// The array at one index, a single i64, of a dimension, which the result lacks.
[[nodiscard]] ValueId emit_at(Builder& builder, ValueId array, DimId dim, ValueId index, Mark mark,
                              const std::string& hint);

// The array at the indices of its dimension `whole` from `begin` on, a single i64, which become those of `part`.
[[nodiscard]] ValueId emit_range(Builder& builder, ValueId array, DimId part, DimId whole, ValueId begin, Mark mark,
                                 const std::string& hint);

class Views : Part {
 public:
  Views(const Part& part, Contractions& contractions);

  // A' as a value: an array of its own, unless a product reads A in the other direction.
  [[nodiscard]] Term transposed(Term matrix, Mark mark, const std::string& hint);
  [[noreturn]] void refuse_transpose(const std::vector<DimId>& dims, Mark mark) const;

 private:
  [[nodiscard]] Term slice_range(const Node& node, const std::string& hint);
  [[nodiscard]] Term slice_index(const Node& node, const std::string& hint);
  [[nodiscard]] Term batch(ValueId input, const Node& node, const Node* over, const std::string& hint);
  [[nodiscard]] DimId sliced_dim(const Term& array, const std::string& view, const std::string& call, const Node* over,
                                 Mark mark) const;
  void require_local(DimId dim, const std::string& view, Mark mark) const;
  void require_inside(const RangeSizes& sizes, ValueId begin, Mark mark) const;

  Contractions& contractions_;
};

}  // namespace kasen::lang
