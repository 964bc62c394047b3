// A def whose head names the axes of a parameter, `A : [R, C]`, called with an array over [N, N]. Beside arrays over
// one of the names, and in reductions `over R`, a name must say which axis is meant. So the second axis gets a name of
// its own while the body is lowered.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "libcore/lang/shapes/rename.h"

namespace kasen::lang {

class AxesApart : Part {
 public:
  AxesApart(const Part& part, Renaming& renaming) : Part(part), renaming_(renaming) {}

  using Own = std::map<DimId, DimId>;  // the dimension that another one stands for
  // Renames axes of the arguments. Nothing where no name needs to be told from another.
  [[nodiscard]] Own tell_apart(const Statement& def, std::vector<Term>& arguments, Mark mark);
  // Names the axes of a result as the caller does.
  [[nodiscard]] Term put_back(const Own& own, Term result, Mark mark, const std::string& hint);

 private:
  [[nodiscard]] std::map<std::string, DimId> new_names(const Statement& def, const std::vector<Term>& arguments,
                                                       Own& own);
  [[nodiscard]] bool can_be_renamed(const Term& term) const;

  Renaming& renaming_;
};

}  // namespace kasen::lang
