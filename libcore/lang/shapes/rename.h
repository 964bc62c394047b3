// The same array over dimensions of other names: X as [N, G].
#pragma once

#include <string>
#include <vector>

#include "libcore/lang/calls/axis.h"

namespace kasen::lang {

class Renaming : NamedAxes {
 public:
  explicit Renaming(const Part& part);

  // Fails where a dimension of `to` is not the array's by another name.
  [[nodiscard]] Term as(Term array, const std::vector<DimId>& to, Mark mark, const std::string& hint);
  // All of the dimension by a name of its own; one that the program has serves, too.
  [[nodiscard]] DimId other_name(DimId dim);

 private:
  [[nodiscard]] Term renamed(const Node& node, const std::string& hint);
  [[nodiscard]] std::vector<DimId> named(const Node& node) const;
  [[nodiscard]] Term all_pairs(Term term, const Node& node) const;
  [[nodiscard]] Term of_entries(Term term, const std::vector<DimId>& to, Mark mark);
  void require_names(Mark mark, const std::vector<DimId>& dims, const std::vector<DimId>& to) const;
  [[nodiscard]] ValueId one_by_one(ValueId array, const std::vector<DimId>& to, Mark mark, const std::string& hint);
  [[nodiscard]] ValueId through_product(ValueId array, const std::vector<DimId>& to, Mark mark,
                                        const std::string& hint);
  [[nodiscard]] ValueId reshaped(ValueId array, std::vector<DimId> parts, DimId whole, std::vector<DimId> dims,
                                 Mark mark, const std::string& hint);
  [[nodiscard]] DimId product_of(const std::vector<DimId>& dims);
};

}  // namespace kasen::lang
