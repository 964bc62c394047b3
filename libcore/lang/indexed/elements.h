// Elements of arrays outside of index notation: x[i] as a value, x[i] = v, x[mask] = v.
#pragma once

#include <string>
#include <vector>

#include "libcore/lang/terms/part.h"

namespace kasen::lang {

class Elements : Part {
 public:
  explicit Elements(const Part& part) : Part(part) {}

  // The element at single indices, one for each dimension of the array, as a single value. Along a dimension that is
  // cut or that stands twice, it is the largest of all elements, where the others count as the lowest number: one pass
  // over the array.
  [[nodiscard]] Term get(Term array, const Node& node, const std::string& hint);
  // `x[i] = v` and `x[mask] = v`: an assignment of the array that has v there. It reads `names`, too.
  [[nodiscard]] Statement whole(const Statement& put, Type array, Scopes::Scope& names);

 private:
  [[nodiscard]] Term lowest(const ElementType& element, Mark mark) const;
  [[nodiscard]] bool is_mask(const Statement& put, const std::vector<DimId>& dims);
  [[nodiscard]] ValueId place(DimId dim, const Node& index);
  [[nodiscard]] Node here(const std::vector<DimId>& dims, const std::vector<Node>& indices, Mark mark,
                          Scopes::Scope& names);
  [[nodiscard]] Node element_of(Node mask, std::size_t axis, Mark mark, Scopes::Scope& names);
  [[nodiscard]] static Node for_all(std::size_t axes, Node value, Mark mark);
};

}  // namespace kasen::lang
