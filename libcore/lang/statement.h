// Statements in their order: each goes to the part that lowers it. Errors are kept, so that one run reports several.
#pragma once

#include <functional>
#include <vector>

#include "libcore/lang/assume.h"
#include "libcore/lang/control.h"
#include "libcore/lang/declare.h"
#include "libcore/lang/list.h"

namespace kasen::lang {

class Statements : Part {
 public:
  Statements(const Part& part, Declarations& declarations, Lists& lists)
      : Part(part),
        declarations_(declarations),
        lists_(lists),
        control_(part, [this](const std::vector<Statement>& body) { return lower(body); }) {}

  bool lower(const std::vector<Statement>& list);  // false if some of them have errors
  // Keeps the first error of some other work.
  void collect(const std::function<void()>& work);
  [[nodiscard]] bool faulty() const { return !faults_.empty(); }
  void throw_faults();

 private:
  void statement(const Statement& s);
  void assign(const Statement& s);
  void assign_several(const Statement& s);
  [[nodiscard]] Term value_of(const Statement& s);
  [[nodiscard]] Term as_known(const Statement& s, Term term, const Type& type) const;
  [[nodiscard]] bool define_formula(const std::string& name, const Term& term, Mark mark);

  Declarations& declarations_;
  Lists& lists_;
  Control control_;
  std::vector<Diagnostic> faults_;
};

}  // namespace kasen::lang
