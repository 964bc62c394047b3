// `sum(A, over rows)`, `over columns`: an axis of an array of two dimensions, where its name does not say which one is
// meant, or is not at hand. A dimension that is declared by such a name is that dimension.
#pragma once

#include <string>

#include "libcore/lang/shapes/rename.h"

namespace kasen::lang {

[[nodiscard]] bool names_axis(const std::string& word);

class AxisWords : Part {
 public:
  AxisWords(const Part& part, Renaming& renaming) : Part(part), renaming_(renaming) {}

  [[nodiscard]] bool stand_in(const Node& call) const;
  // Calls again, with the word as a name of the axis. `hint` names the result.
  [[nodiscard]] Term lower(const Node& call, const std::string& hint);

 private:
  [[nodiscard]] Binding bound(Term array, const Node& node);
  [[nodiscard]] bool is_single(const Node& node) const;
  [[nodiscard]] Term apart(Term array, bool rows, DimId& axis, const Node& call);

  Renaming& renaming_;
};

}  // namespace kasen::lang
