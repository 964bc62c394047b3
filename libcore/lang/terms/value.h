// Gives terms a value: operators and functions of the module, and the shapes that a declaration requires.
#pragma once

#include <string>
#include <vector>

#include "libcore/lang/terms/builder.h"
#include "libcore/lang/terms/formula.h"
#include "libcore/lang/terms/functions.h"
#include "libcore/lang/terms/term.h"

namespace kasen::lang {

// A hint names the value that is made.
class Values {
 public:
  Values(const SourceText& source, Builder& builder, Functions& functions, const Formulas& formulas)
      : source_(source), builder_(builder), functions_(functions), formulas_(formulas), module_(builder.module()) {}

  [[nodiscard]] Term term(ValueId id, bool named = false) const;
  // One map of the whole expression, or one apply if it has only shareds. A single leaf needs nothing, unless a copy is
  // requested.
  ValueId materialise(Term term, const std::string& hint, Mark mark, bool copy = false);
  ValueId constant(const Term& term, const std::string& hint, Mark mark);
  ValueId index(DimId dim, Mark mark, const std::string& hint);
  ValueId size(DimId dim, Mark mark, const std::string& hint);
  // `over`: the dimensions that go; none: all of them.
  ValueId reduce(FnId fn, ValueId array, const std::vector<DimId>& over, Mark mark, const std::string& hint);

  // The term as an array of exactly this type: literals take its element type, missing dimensions are filled.
  [[nodiscard]] Term conform(Term term, const Type& type, Mark mark, const std::string& what);
  void require_array(const Term& term, Mark mark, const std::string& what) const;

 private:
  void cover(Term& term, Mark mark);
  [[nodiscard]] Term fill_element(const Term& term, const ElementType& element);
  void add_instance(const Statement& fn, const std::vector<ValueId>& leaves, const Finished& made, FnId id);

  const SourceText& source_;
  Builder& builder_;
  Functions& functions_;
  const Formulas& formulas_;
  const Module& module_;
};

}  // namespace kasen::lang
