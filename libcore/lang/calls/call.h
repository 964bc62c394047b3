// Scalar functions applied to terms: fns of the program, lambdas, operators and built-in ones. A call substitutes the
// arguments in the body.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "libcore/lang/terms/part.h"

namespace kasen::lang {

class Calls : Part {
 public:
  Calls(const Part& part, Frames& frames);

  [[nodiscard]] Term fn(const Statement& fn, std::vector<Term> args, Mark mark);
  [[nodiscard]] Term scalar(const Node& call);  // a conversion or a built-in scalar function
  // A function argument, applied: a lambda, an operator symbol, a fn, a conversion or a built-in.
  [[nodiscard]] Term apply(const Node& fn, std::vector<Term> args, Mark mark);
  // The function of the module that a function argument is for these types. `what` names its use in messages.
  FnId instantiate(const Node& fn, const std::vector<ElementType>& types, Mark mark, const std::string& what);
  // A fn whose parameters all have types is checked even if it is not used.
  void check(const Statement& fn);

 private:
  [[nodiscard]] Term lambda(const Node& node, std::vector<Term> args);
  [[nodiscard]] Term built_in(const Node& fn, std::vector<Term> args, Mark mark);
  [[nodiscard]] Term expanded(const Statement& fn, std::vector<Term> args, Mark mark);
  [[nodiscard]] Frame frame_of(const std::vector<ParamNode>& params, std::vector<Term> args, Mark mark,
                               const std::string& what);
  [[nodiscard]] Term typed_argument(const ParamNode& param, Term arg, Mark mark, const std::string& what);
  [[nodiscard]] Term map(const Node& node);
  [[nodiscard]] Term of_type(const Node& node);

  Frames& frames_;
  std::set<const Statement*> active_;  // fns being expanded, to refuse recursion
};

}  // namespace kasen::lang
