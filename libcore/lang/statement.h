// Statements in their order: each goes to the part that lowers it. Errors are kept, so that one run reports several.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "libcore/lang/assume.h"
#include "libcore/lang/control.h"
#include "libcore/lang/declare.h"
#include "libcore/lang/definition.h"
#include "libcore/lang/indexed/elements.h"
#include "libcore/lang/list.h"

namespace kasen::lang {

class Statements : Part {
 public:
  // Sets how definitions lower a body.
  Statements(const Part& part, Folds& folds, Definitions& definitions, Declarations& declarations, Lists& lists,
             Elements& elements);

  void program(const std::vector<Statement>& list);
  // Keeps the first error of some other work.
  void collect(const std::function<void()>& work);
  [[nodiscard]] bool faulty() const { return !faults_.empty(); }
  void throw_faults();
  void refuse(const std::vector<Diagnostic>& faults);  // if there are any

 private:
  struct TooManyFaults {};
  // False if some of them have errors. `results`: of a def, which reads them last.
  bool lower(const std::vector<Statement>& list, const std::vector<Node>* results = nullptr);
  bool block(const std::vector<Statement>& body);
  bool called(const Statement& def, const CallNote& note, const std::function<void()>& values);
  void keep(const std::vector<Diagnostic>& faults);
  void statement(const Statement& s);
  void assign(const Statement& s);
  void put(const Statement& s);
  void assign_several(const Statement& s);
  [[nodiscard]] std::vector<Term> several_values(const Statement& s, const std::vector<std::string>& hints);
  [[nodiscard]] Term value_of(const Statement& s);
  [[nodiscard]] Term as_known(const Statement& s, Term term, const Type& type) const;
  [[nodiscard]] bool define_formula(const Statement& s, const Term& term);
  void store_entries(const Statement& s, Term term);

  Folds& folds_;
  Definitions& definitions_;
  Declarations& declarations_;
  Lists& lists_;
  Elements& elements_;
  Control control_;
  std::vector<Diagnostic> faults_;
  int blocks_ = 0;
  const std::vector<Statement>* list_ = nullptr;  // those of the block that is lowered
  const std::vector<Node>* results_ = nullptr;    // of the def whose body it is, or null
};

}  // namespace kasen::lang
